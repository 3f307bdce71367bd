#include "cmd/heap/snapshot_dump.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "cmd/heap/heap_engine.h"
#include "cmd/heap/snapshot_request.h"

struct attempt {
	struct snapshot_request request;
	struct dump_output *output;
	struct progress line;
	uint64_t bytes;
	/* error with which dump_output_take() has stopped the attempt; EXIT_DONE: none */
	struct err stopped;
};

static int take_data(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct attempt *a = arg;
	size_t len = (size_t)(payload->end - payload->at);

	if (type != WIRE_DUMP_DATA)
		return -EBADMSG;
	a->bytes += len;
	if (progress_due(&a->line))
		progress_show(&a->line, "heap dump: %llu MiB",
			      (unsigned long long)a->bytes >> 20);
	if (dump_output_take(a->output, (uint8_t *)(uintptr_t)payload->at, len, &a->stopped) < 0)
		return -ECANCELED;
	return 0;
}

/*
 * Returns whether the JVM's own dump may succeed after this error.  That dump needs no agent, and
 * less memory, because the kernel copies no pages for it.
 */
static bool may_be_dumped_otherwise(const struct attempt *a, const struct err *err)
{
	if (a->request.no_agent || a->request.no_memory)
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

static enum dump_outcome try_once(struct attempt *a, struct err *err)
{
	const struct snapshot_request *r = &a->request;
	const struct ctx *ctx = r->ctx;
	int rc;

	progress_begin(&a->line);
	rc = snapshot_request_run(&a->request, err);
	progress_end(&a->line);
	if (rc < 0) {
		bool may_be_dumped = may_be_dumped_otherwise(a, err);

		if (a->stopped.code != EXIT_DONE && !r->no_memory)
			*err = a->stopped; /* the cause; `err` only said that the session ended */
		return may_be_dumped ? DUMP_CANNOT : DUMP_FAILED;
	}
	if (r->why != WIRE_SNAPSHOT_DONE) {
		snapshot_failed(ctx, (enum wire_snapshot_why)r->why, r->code, err);
		return DUMP_CANNOT;
	}
	verbose_step(ctx->steps,
		     "the snapshot paused the JVM for %.3f ms; the dump by a child process took "
		     "%.3f ms; the agent used at most %llu bytes", (double)r->pause_ns / 1e6,
		     (double)r->child_ns / 1e6, (unsigned long long)r->agent_peak);
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
			.request = {
				.ctx = ctx, .max_pause_ms = max_pause_ms,
				.take = take_data, .arg = &a,
			},
			.output = dump_output_new(out, wanted),
			.stopped = { .code = EXIT_DONE },
		};

		outcome = try_once(&a, &why);
		dump_output_free(a.output);
		*pause_ns = (int64_t)a.request.pause_ns;
		if (outcome == DUMP_DONE)
			return outcome;
		if (empty(out, err) < 0)
			return DUMP_FAILED;
		if (outcome == DUMP_FAILED || tries == SNAPSHOT_TRIES ||
		    !snapshot_may_try_again((enum wire_snapshot_why)a.request.why)) {
			(void)err_set(err, why.code, "%s", why.text);
			return outcome;
		}
		verbose_step(ctx->steps, "%s; trying again", why.text);
	}
}
