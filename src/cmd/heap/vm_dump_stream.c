#include "cmd/heap/vm_dump_stream.h"

#include <errno.h>
#include <string.h>

#include "attach/attach_async.h"
#include "base/xalloc.h"
#include "cmd/heap/vm_dump_request.h"
#include "discover/memory_check.h"
#include "fileio/fifo_relay.h"
#include "fileio/io.h"

#define CHUNK (256 * 1024)

struct stream {
	struct vm_dump_request rq;
	const struct dump_limits *limits;
	dump_chunk_fn *take;
	void *arg;
	uint64_t bytes;
};

/*
 * Removes the name of the FIFO when the JVM has begun to write.  Then no other process can open the
 * FIFO, and the JVM gets EPIPE when jtool closes the FIFO.  Does nothing if the JVM merges segments
 * (JDK 22 and later), because such a JVM is not paused, and needs the directory for its segments.
 */
static void on_first_bytes(struct stream *f)
{
	if (f->rq.by_fifo && !f->rq.features.segments)
		vm_dump_request_unstage(&f->rq);
}

static int take_all(struct stream *f, int fd, struct err *err)
{
	_cleanup_free_ uint8_t *chunk = xmalloc(CHUNK);
	struct memory_watch watch = { .jvm = f->rq.ctx->jvm };
	ssize_t n;

	while ((n = io_read(fd, chunk, CHUNK)) > 0) {
		if (memory_watch(&watch, err) < 0)
			return -1;
		if (f->bytes == 0)
			on_first_bytes(f);
		f->bytes += (uint64_t)n;
		f->rq.received = f->bytes;
		if (f->take(f->arg, chunk, (size_t)n, err) < 0)
			return -1;
	}
	return n < 0 ? err_set(err, EXIT_PARTIAL,
			       "cannot read the dump from the JVM: %s; try again",
			       strerror((int)-n))
		     : 0;
}

static int relay_failed(const struct stream *f, int error, struct err *err)
{
	int pid = (int)f->rq.ctx->jvm->pid;

	if (error == -ETIMEDOUT)
		return err_set(err, EXIT_PARTIAL,
			       "stopped the dump of JVM %d: the JVM had been paused for %g s; "
			       "allow more with --max-pause TIME",
			       pid, f->limits->pause_ms / 1e3);
	if (error == -EFBIG)
		return err_set(err, EXIT_PARTIAL,
			       "stopped the dump of JVM %d: it was written faster than jtool could "
			       "read it, and the unread part exceeded the limit of %zu MB; %s",
			       pid, f->limits->waiting >> 20, f->limits->advice);
	if (error == -ENOBUFS)
		return err_set(err, EXIT_PARTIAL,
			       "stopped the dump of JVM %d: the JVM had to wait, because jtool "
			       "read no data for %u s; check whether the disk or pipe that it "
			       "writes to is slow, or try again when this machine is less busy",
			       pid, f->limits->stall_ms / 1000);
	if (error == -ECANCELED)
		return err_set(err, EXIT_PARTIAL,
			       "stopped the dump of JVM %d: the jtool process that reads it "
			       "was killed; if memory ran out, raise the memory limit of jtool's "
			       "control group",
			       pid);
	return err_set(err, EXIT_PARTIAL, "cannot receive the dump of JVM %d: %s; try again", pid,
		       strerror(-error));
}

/* Reads through a relay process, so that the JVM is not blocked if SIGSTOP stops jtool. */
static int take_relayed(struct stream *f, int fifo, int end, struct err *err)
{
	const struct fifo_relay_limits limits = {
		.bytes = f->limits->waiting,
		.stall_ms = f->limits->stall_ms,
		.ms = f->rq.features.segments ? 0 : f->limits->pause_ms,
	};
	struct fifo_relay relay;
	int rc = fifo_relay_start(&relay, fifo, end, &limits), relayed;

	(void)close(fifo);
	if (rc < 0) {
		vm_dump_request_unstage(&f->rq);
		return relay_failed(f, rc, err);
	}
	rc = take_all(f, relay.out, err);
	/*
	 * After an error, a JVM that is paused must get EPIPE.  It gets EPIPE only after the FIFO's
	 * name was removed (fifo_relay.h).  A JVM that merges segments is not paused, and would log
	 * an error for EPIPE, so for such a JVM the name remains, and the relay reads the rest of
	 * the FIFO.
	 */
	if (rc < 0 && !f->rq.features.segments)
		vm_dump_request_unstage(&f->rq);
	relayed = fifo_relay_end(&relay);
	if (rc < 0 || relayed == 0)
		return rc;
	/*
	 * The relay has failed or was killed, so the FIFO was not read to its end.  Remove the
	 * FIFO's name, because otherwise the JVM would wait forever for a reader, and get no EPIPE.
	 */
	vm_dump_request_unstage(&f->rq);
	return relay_failed(f, relayed, err);
}

static int dump_through_fifo(struct stream *f, struct attach_reply *reply, struct err *err)
{
	int fifo = staged_file_open(f->rq.staged, err), rc;
	struct attach_async call;

	if (fifo < 0)
		return -1;
	if (attach_async_start(&call, f->rq.ctx->jvm, &f->rq.opts, &f->rq.attach, err) < 0) {
		(void)close(fifo);
		return -1;
	}
	rc = take_relayed(f, fifo, call.end, err);
	if (attach_async_join(&call, reply, err) < 0)
		return -1;
	if (rc < 0)
		attach_reply_release(reply);
	return rc;
}

/*
 * Reads a dump that the JVM writes to a file.  Unlinks the file before reading, so that the file is
 * gone however jtool ends.
 */
static int dump_through_file(struct stream *f, struct err *err)
{
	_cleanup_close_ int fd = staged_file_open(f->rq.staged, err);

	if (fd < 0)
		return -1;
	vm_dump_request_unstage(&f->rq);
	return take_all(f, fd, err);
}

static int ask_for_dump(struct stream *f, struct err *err)
{
	const struct vm_dump_request *rq = &f->rq;
	struct hprof_answer answer;
	struct attach_reply reply;
	int64_t begin = monotonic_ns();
	int rc;

	if (rq->by_fifo)
		rc = dump_through_fifo(f, &reply, err);
	else
		rc = attach_execute_long(rq->ctx->jvm, &rq->opts, &rq->attach, &reply, err);
	if (rc < 0)
		return -1;
	rc = dump_parse_reply(rq, &reply, &answer, err);
	attach_reply_release(&reply);
	verbose_step(rq->ctx->steps, "the JVM took %.3f ms to dump its heap",
		     (double)(monotonic_ns() - begin) / 1e6);
	if (rc == 0 && !rq->by_fifo)
		rc = dump_through_file(f, err);
	if (rc == 0 && answer.bytes >= 0 && (uint64_t)answer.bytes != f->bytes)
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not complete: received %llu of %lld bytes; dump the "
			       "heap again", (unsigned long long)f->bytes, (long long)answer.bytes);
	return rc;
}

int vm_dump_stream(const struct ctx *ctx, const struct dump_wanted *wanted,
		const struct dump_limits *limits, dump_chunk_fn *take, void *arg, struct err *err)
{
	struct stream stream = { .limits = limits, .take = take, .arg = arg };
	int rc = vm_dump_request_begin(&stream.rq, ctx, wanted, err);

	if (rc == 0)
		rc = ask_for_dump(&stream, err);
	vm_dump_request_end(&stream.rq);
	return rc;
}
