/*
 * Capturing classes, some at a time: what is asked for is here as a whole before anything is
 * done with it.  So the agent never waits for a slow disk or a slow reader with its hook in
 * place, and never gives up because nobody reads.
 */
#include "cmd/roster.h"

#include "base/xalloc.h"

#define AT_ONCE 1024 /* each costs the JVM an environment, which it keeps until it collects */
#define BYTES_AT_ONCE (512u << 20) /* what a hostile agent can make us keep */

/* What came of one request. */
struct catch {
	const struct class_row *rows;
	size_t wanted, n;
	struct captured *captured; /* of all that are wanted; the first n are used */
	size_t bytes;
	uint64_t ns;
};

static void catch_release(struct catch *catch)
{
	for (size_t i = 0; i < catch->n; i++)
		captured_release(&catch->captured[i]);
	free(catch->captured);
}

static int ask(struct roster *r, const struct catch *catch, uint32_t flags, struct err *err)
{
	uint8_t payload[4 * (2 + AT_ONCE)];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, flags);
	wire_put_u32(&w, (uint32_t)catch->wanted);
	for (size_t i = 0; i < catch->wanted; i++)
		wire_put_u32(&w, catch->rows[i].number);
	return session_send(r->session, WIRE_CAPTURE, &w, err);
}

/* The last class, if there is one, is whole: the frame begins the next, or is the end. */
static int take_next(struct catch *catch, uint16_t type, struct wire_reader payload)
{
	struct captured *next;
	uint32_t n;

	if (catch->n > 0)
		catch->bytes += catch->captured[catch->n - 1].announced;
	if (type == WIRE_CAPTURE_END) {
		n = wire_get_u32(&payload);
		catch->ns = wire_get_u64(&payload);
		return wire_reader_ok(&payload) && n == catch->wanted && n == catch->n ? 1 : -1;
	}
	if (catch->n == catch->wanted || catch->bytes > BYTES_AT_ONCE)
		return -1;
	next = &catch->captured[catch->n++];
	if (captured_take(next, type, payload) != 0)
		return -1;
	return next->number == catch->rows[catch->n - 1].number ? 0 : -1;
}

static int take_frame(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct catch *catch = arg;
	int rc = 1;

	if (catch->n > 0)
		rc = captured_take(&catch->captured[catch->n - 1], type, *payload);
	return rc > 0 ? take_next(catch, type, *payload) : rc;
}

/* The agent's hook was to end that, and the agent does no more when it did not. */
static int was_real(const struct class_row *row, struct err *err)
{
	return err_set(err, EXIT_AGENT,
		       "the JVM really retransformed %s, instead of stopping before: its code is "
		       "what it was, but may run slower for a while; the others were left alone",
		       row->name);
}

int roster_capture(struct roster *r, const struct class_row *rows, size_t n, uint32_t flags,
		   roster_take_fn *take, void *arg, struct err *err)
{
	int rc = 0;

	r->capture_ns = 0;
	while (n > 0 && rc == 0) {
		struct catch catch = { .rows = rows, .wanted = n < AT_ONCE ? n : AT_ONCE };

		catch.captured = xcalloc(catch.wanted, sizeof(*catch.captured));
		rc = ask(r, &catch, flags, err);
		if (rc == 0)
			rc = session_answer(r->session, take_frame, &catch, err);
		for (size_t i = 0; i < catch.n && rc == 0; i++)
			rc = catch.captured[i].outcome == WIRE_CAPTURED_REAL ?
				     was_real(&rows[i], err) :
				     take(&rows[i], &catch.captured[i], arg, err);
		r->capture_ns += catch.ns;
		rows += catch.wanted;
		n -= catch.wanted;
		catch_release(&catch);
	}
	return rc;
}

const char *roster_why_no_file(const struct class_row *row, const struct captured *captured,
			       struct buf *text)
{
	switch (captured->outcome) {
	case WIRE_CAPTURED_FILE:
		return NULL;
	case WIRE_CAPTURED_ARRAY:
		return "an array has no class file";
	case WIRE_CAPTURED_ANONYMOUS:
		return "to look into a VM-anonymous class ends a JVM of JDK 8";
	case WIRE_CAPTURED_HIDDEN:
		return "of a class that is hidden or must not change, the JVM hands out none";
	default:
		buf_addf(text, "the JVM %s: JVMTI error %d",
			 class_is_linked(row) ? "refuses" : "cannot link it", (int)captured->code);
		return buf_str(text);
	}
}
