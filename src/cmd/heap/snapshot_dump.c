#include "cmd/heap/snapshot_dump.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "cmd/heap/heap_engine.h"
#include "session/memory_guard.h"

struct attempt {
	const struct ctx *ctx;
	struct session *session;
	struct dump_output *output;
	struct progress line;
	uint64_t bytes;
	/* error with which dump_output_take() has stopped the attempt; EXIT_DONE: none */
	struct err stopped;
	struct err shortage; /* error of memory_guard_end(); EXIT_DONE: none */

	/* Values of the frame DUMP_END (agent/wire/frames.def): */
	uint32_t why; /* enum wire_snapshot_why: why there is no snapshot */
	int32_t code;
	uint64_t pause_ns, child_ns, agent_peak;
};

static int take_data(struct attempt *a, struct wire_reader *payload)
{
	size_t len = (size_t)(payload->end - payload->at);

	a->bytes += len;
	if (progress_due(&a->line))
		progress_show(&a->line, "heap dump: %llu MiB",
			      (unsigned long long)a->bytes >> 20);
	if (dump_output_take(a->output, (uint8_t *)(uintptr_t)payload->at, len, &a->stopped) < 0)
		return -ECANCELED;
	return 0;
}

static int take_frame(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct attempt *a = arg;

	if (type == WIRE_DUMP_DATA)
		return take_data(a, payload);
	if (type != WIRE_DUMP_END)
		return -EBADMSG;
	a->why = wire_get_u32(payload);
	a->code = wire_get_i32(payload);
	a->pause_ns = wire_get_u64(payload);
	a->child_ns = wire_get_u64(payload);
	a->agent_peak = wire_get_u64(payload);
	return wire_reader_ok(payload) ? 1 : -EBADMSG;
}

static int ask(struct attempt *a, unsigned max_pause_ms, struct err *err)
{
	uint8_t payload[8];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));
	int rc;

	wire_put_u32(&w, max_pause_ms);
	wire_put_u32(&w, snapshot_life_ms(a->ctx->jvm));
	rc = session_send(a->session, WIRE_DUMP, &w, err);
	if (rc == 0)
		rc = session_answer_long(a->session, take_frame, a, err);
	return rc;
}

static int open_session(struct attempt *a, struct err *err)
{
	const struct attach_opts attach = {
		.timeout_ms = a->ctx->timeout_ms, .steps = a->ctx->steps,
	};

	a->session = session_open(a->ctx->jvm, &attach, err);
	return a->session ? 0 : -1;
}

/* Requests the dump and receives it.  Returns 0 after the frame DUMP_END, or -1 with err set. */
static int request(struct attempt *a, unsigned max_pause_ms, struct err *err)
{
	struct err ignored = { .code = EXIT_DONE };
	struct memory_guard guard;
	int rc = memory_guard_begin(&guard, a->session, a->ctx->jvm, MEMORY_COPY, err);

	if (rc == 0) {
		progress_begin(&a->line);
		rc = ask(a, max_pause_ms, err);
		progress_end(&a->line);
		if (memory_guard_end(&guard, &a->shortage) < 0)
			rc = -1;
	}
	if (rc < 0) {
		/* `err` has the error of the request, so ignore an error of session_close(). */
		(void)session_close(a->session, &ignored);
		return -1;
	}
	return session_close(a->session, err) < 0 ? -1 : 0;
}

/* Returns whether the JVM's own dump, which copies no pages, may succeed after this error. */
static bool may_be_dumped_otherwise(const struct attempt *a, const struct err *err)
{
	if (a->shortage.code != EXIT_DONE)
		return true;
	if (a->stopped.code != EXIT_DONE)
		/*
		 * If the output cannot be written, return false: the JVM's own dump cannot be
		 * written either.  Otherwise the child's dump was inconsistent: return true.
		 */
		return !dump_output_cannot_write(a->output);
	/* EXIT_ANSWER: the agent reports an error, such as a limit or a lack of memory. */
	return err->code == EXIT_AGENT || err->code == EXIT_ANSWER;
}

static enum dump_outcome try_once(struct attempt *a, unsigned max_pause_ms, struct err *err)
{
	enum dump_outcome outcome = DUMP_FAILED;

	if (open_session(a, err) < 0)
		return err->code == EXIT_AGENT ? DUMP_CANNOT : DUMP_FAILED;
	if (request(a, max_pause_ms, err) < 0) {
		if (may_be_dumped_otherwise(a, err))
			outcome = DUMP_CANNOT;
		if (a->shortage.code != EXIT_DONE)
			a->stopped = a->shortage;
		if (a->stopped.code != EXIT_DONE)
			*err = a->stopped; /* the cause: the session only knows that it was ended */
		return outcome;
	}
	if (a->why != WIRE_SNAPSHOT_DONE) {
		snapshot_failed(a->ctx, (enum wire_snapshot_why)a->why, a->code, err);
		return DUMP_CANNOT;
	}
	verbose_step(a->ctx->steps,
		     "the snapshot paused the JVM for %.3f ms; the dump by a child process took "
		     "%.3f ms; the agent used at most %llu bytes", (double)a->pause_ns / 1e6,
		     (double)a->child_ns / 1e6, (unsigned long long)a->agent_peak);
	if (dump_output_end(a->output, err) == 0)
		return DUMP_DONE;
	return dump_output_cannot_write(a->output) ? DUMP_FAILED : DUMP_CANNOT;
}

/* Empties the output file after a failed attempt. */
static int empty(const struct atomic_file *out, struct err *err)
{
	if (ftruncate(out->fd, 0) < 0 || lseek(out->fd, 0, SEEK_SET) < 0)
		return atomic_file_failed(out, -errno, err);
	return 0;
}

enum dump_outcome snapshot_dump(const struct ctx *ctx, unsigned max_pause_ms,
				const struct dump_output_wanted *wanted, struct atomic_file *out,
				int64_t *pause_ns, struct err *err)
{
	enum dump_outcome outcome;

	if (snapshot_check(ctx, max_pause_ms, err) < 0)
		return DUMP_CANNOT;
	for (unsigned tries = 1;; tries++) {
		struct err why = { .code = EXIT_DONE };
		struct attempt a = {
			.ctx = ctx,
			.output = dump_output_new(out, wanted),
			.stopped = { .code = EXIT_DONE },
			.shortage = { .code = EXIT_DONE },
		};

		outcome = try_once(&a, max_pause_ms, &why);
		dump_output_free(a.output);
		*pause_ns = (int64_t)a.pause_ns;
		if (outcome == DUMP_DONE)
			return outcome;
		if (empty(out, err) < 0)
			return DUMP_FAILED;
		if (outcome == DUMP_FAILED || tries == SNAPSHOT_TRIES ||
		    !snapshot_may_try_again((enum wire_snapshot_why)a.why)) {
			(void)err_set(err, why.code, "%s", why.text);
			return outcome;
		}
		verbose_step(ctx->steps, "%s; trying again", why.text);
	}
}
