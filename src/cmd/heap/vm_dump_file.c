#include "cmd/heap/vm_dump_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "attach/attach_async.h"
#include "cmd/fetch.h"
#include "cmd/heap/vm_dump_request.h"
#include "cmd/heap/dump_output.h"
#include "cmd/heap/vm_dump_stream.h"
#include "fileio/fifo_relay.h"
#include "fileio/file_open.h"

#define READ_BYTES (64 * 1024) /* bytes per read */
#define WAITING_MAX (64u << 20) /* limit for the bytes that wait to be redacted */
#define STALL_MS 10000

/*
 * Ends the transfer when the dump cannot be written to the caller's file.  A JVM that is paused
 * while it writes gets EPIPE and continues.  A JVM that merges segments (JDK 22 and later) would
 * log an error for a broken pipe, so jtool copies the rest of its dump to /dev/null instead.
 */
static void discard_rest(struct vm_dump_request *rq, int fifo, int end)
{
	int null = rq->features.segments ? file_open_null(O_WRONLY) : -1;

	if (null < 0 || fifo_relay_to_file(fifo, null, end, NULL, 0, NULL) < 0)
		vm_dump_request_unstage(rq);
	util_close_p(&null);
}

static int take(void *arg, const void *data, size_t len)
{
	return hprof_stream_take(arg, data, len);
}

static int relay_failed(const struct vm_dump_request *rq, const struct atomic_file *out,
			const struct dump_wanted *wanted, int error, struct err *err)
{
	if (error == -ETIMEDOUT)
		return err_set(err, EXIT_PARTIAL,
			       "stopped the dump of JVM %d after %g s; its pause ends when it has "
			       "visited its other objects; allow more with --max-pause TIME",
			       (int)rq->ctx->jvm->pid, wanted->max_pause_ms / 1e3);
	if (error == -EBADMSG)
		return err_set(err, EXIT_PARTIAL,
			       "the data from JVM %d is not a heap dump, so reading was stopped "
			       "and '%s' was not written; try again", (int)rq->ctx->jvm->pid,
			       out->path);
	return atomic_file_failed(out, error, err);
}

/* Copies the dump from the FIFO while the JVM writes it. */
static int dump_through_fifo(struct vm_dump_request *rq, struct atomic_file *out,
			     const struct dump_wanted *wanted, struct attach_reply *reply,
			     struct err *err)
{
	struct hprof_stream stream = { .gzip = wanted->gzip > 0 };
	const struct fifo_relay_check check = { take, &stream };
	_cleanup_close_ int fifo = staged_file_open(rq->staged, err);
	struct attach_async call;
	int rc;

	if (fifo < 0 || attach_async_start(&call, rq->ctx->jvm, &rq->opts, &rq->attach, err) < 0)
		return -1;
	rc = fifo_relay_to_file(fifo, out->fd, call.end, "heap dump", wanted->max_pause_ms, &check);
	if (rc < 0) {
		(void)relay_failed(rq, out, wanted, rc, err);
		discard_rest(rq, fifo, call.end);
	}
	util_close_p(&fifo);
	fifo = -1;
	if (attach_async_join(&call, reply, err) < 0)
		return -1;
	if (rc < 0)
		attach_reply_release(reply);
	return rc < 0 ? -1 : 0;
}

/*
 * Checks that the records of the dump in `fd` are complete.  Of a compressed dump, checks only that
 * it is a gzip file.
 */
static int check_bytes(int fd, uint64_t size, bool gzip, struct err *err)
{
	struct hprof_walk walk = { .size = size };
	uint8_t data[READ_BYTES];
	ssize_t n;
	int rc;

	do {
		n = pread(fd, data, sizeof(data), (off_t)walk.at);
		if (n < 0)
			return err_set(err, EXIT_PARTIAL,
				       "cannot read the dump again to verify it: %s; dump the heap "
				       "again", strerror(errno));
		if (gzip)
			rc = hprof_is_gzip(data, (size_t)n) ? 0 : -EBADMSG;
		else
			rc = hprof_walk_step(&walk, data, (size_t)n);
	} while (rc > 0 && n > 0);
	return rc == 0 ? 0
		       : err_set(err, EXIT_PARTIAL,
				 "the dump is not complete: it is inconsistent at byte %" PRIu64
				 " of %" PRIu64 "; dump the heap again",
				 walk.at, size);
}

static int check_result(void *arg, int fd, uint64_t size, struct err *err)
{
	const bool *gzip = arg;

	return check_bytes(fd, size, *gzip, err);
}

static int ask_for_dump(struct vm_dump_request *rq, struct atomic_file *out,
			const struct dump_wanted *wanted, struct hprof_answer *answer,
			struct err *err)
{
	bool gzip = wanted->gzip > 0;
	const struct fetch_check check = { check_result, &gzip };
	struct attach_reply reply;
	uint64_t size;
	int rc;

	rq->out_fd = out->fd;
	if (rq->by_fifo)
		rc = dump_through_fifo(rq, out, wanted, &reply, err);
	else
		rc = attach_execute_long(rq->ctx->jvm, &rq->opts, &rq->attach, &reply, err);
	if (rc < 0)
		return -1;
	rc = dump_parse_reply(rq, &reply, answer, err);
	attach_reply_release(&reply);
	if (rc == 0 && !rq->by_fifo)
		rc = fetch_result(rq->staged, out, &check, &size, err);
	return rc;
}

static int check_dump(bool gzip, const struct atomic_file *out, const struct hprof_answer *answer,
		      struct err *err)
{
	struct stat st;

	if (fstat(out->fd, &st) < 0)
		return err_set(err, EXIT_PARTIAL,
			       "cannot read the dump again to verify it: %s; dump the heap again",
			       strerror(errno));
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the caller sets it */
	if (answer->bytes >= 0 && answer->bytes != st.st_size)
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not complete: received %lld of %lld bytes; dump the "
			       "heap again", (long long)st.st_size, (long long)answer->bytes);
	return check_bytes(out->fd, (uint64_t)st.st_size, gzip, err);
}

static int dump_redacted(const struct ctx *ctx, const struct dump_wanted *wanted,
			 struct atomic_file *out, struct err *err)
{
	const struct dump_limits limits = { WAITING_MAX, STALL_MS, wanted->max_pause_ms, NULL };
	const struct dump_output_wanted how = { wanted->redact, wanted->gzip };
	struct dump_output *output = dump_output_new(out, &how);
	struct dump_wanted raw = *wanted;
	int rc;

	raw.gzip = 0;
	rc = vm_dump_stream(ctx, &raw, &limits, dump_output_take, output, err);
	if (rc == 0)
		rc = dump_output_end(output, err);
	dump_output_free(output);
	return rc;
}

int vm_dump_file(const struct ctx *ctx, const struct dump_wanted *wanted, struct atomic_file *out,
		 struct err *err)
{
	struct hprof_answer answer;
	struct vm_dump_request rq;
	int rc;

	if (wanted->redact)
		return dump_redacted(ctx, wanted, out, err);
	rc = vm_dump_request_begin(&rq, ctx, wanted, err);

	if (rc == 0)
		rc = ask_for_dump(&rq, out, wanted, &answer, err);
	vm_dump_request_end(&rq);
	return rc < 0 ? -1 : check_dump(wanted->gzip > 0, out, &answer, err);
}
