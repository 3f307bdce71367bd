/*
 * Captures classes in batches.  The client receives a batch completely before it processes any
 * class of the batch.  So the agent, whose hook is enabled during a batch, never waits for a slow
 * disk or for a slow reader of jtool's output, and does not time out.
 */
#include "cmd/class/class_index.h"

#include "base/xalloc.h"

/*
 * maximum number of classes in a batch; limited because each captured class occupies a JVMTI
 * environment in the JVM until the JVM's next collection
 */
#define BATCH_MAX 1024
#define BATCH_BYTES_MAX (512u << 20) /* limit for a batch in bytes, in case the agent is hostile */

struct batch {
	const struct class_row *rows;
	size_t wanted, n;
	/* array of `wanted` elements, of which the first n are in use */
	struct class_capture *captured;
	size_t bytes; /* size of the class files that were received */
	uint64_t ns;  /* time that the agent took for the batch */
};

static void batch_release(struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++)
		class_capture_release(&batch->captured[i]);
	free(batch->captured);
}

static int ask(struct class_index *r, const struct batch *batch, uint32_t flags, struct err *err)
{
	uint8_t payload[4 * (2 + BATCH_MAX)];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, flags);
	wire_put_u32(&w, (uint32_t)batch->wanted);
	for (size_t i = 0; i < batch->wanted; i++)
		wire_put_u32(&w, batch->rows[i].number);
	return session_send(r->session, WIRE_CAPTURE, &w, err);
}

/*
 * Handles the frame after the last frame of a class: this frame begins the next class, or ends the
 * batch.  Returns 1 if the batch has ended, 0 if more frames follow, or -1 if the frame is invalid.
 */
static int take_next(struct batch *batch, uint16_t type, struct wire_reader payload)
{
	struct class_capture *next;
	uint32_t n;

	if (batch->n > 0)
		batch->bytes += batch->captured[batch->n - 1].announced;
	if (type == WIRE_CAPTURE_END) {
		n = wire_get_u32(&payload);
		batch->ns = wire_get_u64(&payload);
		return wire_reader_ok(&payload) && n == batch->wanted && n == batch->n ? 1 : -1;
	}
	if (batch->n == batch->wanted || batch->bytes > BATCH_BYTES_MAX)
		return -1;
	next = &batch->captured[batch->n++];
	if (class_capture_take(next, type, payload) != 0)
		return -1;
	return next->number == batch->rows[batch->n - 1].number ? 0 : -1;
}

static int take_frame(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct batch *batch = arg;
	int rc = 1;

	if (batch->n > 0)
		rc = class_capture_take(&batch->captured[batch->n - 1], type, *payload);
	return rc > 0 ? take_next(batch, type, *payload) : rc;
}

/*
 * Sets the error for a class that the JVM has retransformed, although the agent's hook should have
 * made the JVM abandon the retransformation.  The agent has stopped at this class.  Returns -1.
 */
static int retransformed_error(const struct class_row *row, struct err *err)
{
	return err_set(err, EXIT_AGENT,
		       "the JVM replaced %s by the same code while jtool read it, so it may run "
		       "slower until it is compiled again; no further class was read; report this, "
		       "with the JVM's version and its agents", row->name);
}

int class_index_capture(struct class_index *r, const struct class_row *rows, size_t n,
			uint32_t flags, class_index_take_fn *take, void *arg, struct err *err)
{
	int rc = 0;

	r->capture_ns = 0;
	while (n > 0 && rc == 0) {
		struct batch batch = { .rows = rows, .wanted = n < BATCH_MAX ? n : BATCH_MAX };

		batch.captured = xcalloc(batch.wanted, sizeof(*batch.captured));
		rc = ask(r, &batch, flags, err);
		if (rc == 0)
			rc = session_answer_long(r->session, take_frame, &batch, err);
		for (size_t i = 0; i < batch.n && rc == 0; i++)
			rc = batch.captured[i].outcome == WIRE_CAPTURED_RETRANSFORMED ?
				     retransformed_error(&rows[i], err) :
				     take(&rows[i], &batch.captured[i], arg, err);
		r->capture_ns += batch.ns;
		rows += batch.wanted;
		n -= batch.wanted;
		batch_release(&batch);
	}
	return rc;
}

const char *class_index_why_no_file(const struct class_row *row,
				    const struct class_capture *captured, struct buf *text)
{
	switch (captured->outcome) {
	case WIRE_CAPTURED_FILE:
		return NULL;
	case WIRE_CAPTURED_ARRAY:
		return "an array has no class file";
	case WIRE_CAPTURED_ANONYMOUS:
		return "reading a VM-anonymous class crashes JDK 8";
	case WIRE_CAPTURED_HIDDEN:
		return "the JVM gives out no class file of hidden or unmodifiable classes";
	default:
		buf_addf(text, "the JVM %s: JVMTI error %d",
			 class_is_linked(row) ? "refuses" : "cannot link it", (int)captured->code);
		return buf_str(text);
	}
}
