/* A dump that is read as it comes. */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/relay.h"
#include "base/xalloc.h"
#include "cmd/hprof_request.h"
#include "target/asking.h"

#define PIECE (256 * 1024)

struct flow {
	struct hprof_request rq;
	const struct hprof_limits *limits;
	hprof_piece_fn *take;
	void *arg;
	uint64_t bytes;
};

/*
 * Once the JVM writes, the FIFO needs no name, and without it nobody but us holds it open: it
 * breaks when we hang up.  One that puts segments together still needs its directory for them,
 * and stands still no more.
 */
static void has_begun(struct flow *f)
{
	if (f->rq.ways.overwrite && !f->rq.ways.segments)
		hprof_request_leave(&f->rq);
}

static int take_all(struct flow *f, int fd, struct err *err)
{
	_cleanup_free_ uint8_t *piece = xmalloc(PIECE);
	ssize_t n;

	while ((n = io_read(fd, piece, PIECE)) > 0) {
		if (f->bytes == 0)
			has_begun(f);
		f->bytes += (uint64_t)n;
		if (f->take(f->arg, piece, (size_t)n, err) < 0)
			return -1;
	}
	return n < 0 ? err_set(err, EXIT_PARTIAL, "the dump cannot be read: %s", strerror((int)-n))
		     : 0;
}

static int relay_failed(const struct flow *f, int error, struct err *err)
{
	int pid = (int)f->rq.ctx->jvm->pid;

	if (error == -ETIMEDOUT)
		return err_set(err, EXIT_PARTIAL,
			       "the dump of JVM %d was ended: the JVM had stood still for %g s; "
			       "allow more with --max-pause SECONDS",
			       pid, f->limits->pause_ms / 1e3);
	if (error == -EFBIG || error == -ENOMEM)
		return err_set(err, EXIT_PARTIAL,
			       "the dump of JVM %d was ended: it came faster than it was read, and "
			       "more of it waited than the %zu MB of memory that it may take here; "
			       "allow more with --max-memory MB",
			       pid, f->limits->waiting >> 20);
	if (error == -ECANCELED)
		return err_set(err, EXIT_PARTIAL,
			       "the dump of JVM %d was ended: the process of jtool that takes it "
			       "was killed; if that was for lack of memory, allow less with "
			       "--max-memory MB",
			       pid);
	return err_set(err, EXIT_PARTIAL, "the dump of JVM %d cannot be taken: %s", pid,
		       strerror(-error));
}

/* With the relay between us: what we do not want any more must not hold the JVM. */
static int take_relayed(struct flow *f, int fifo, int end, struct err *err)
{
	const struct relay_limits limits = {
		.bytes = f->limits->waiting,
		.ms = f->rq.ways.segments ? 0 : f->limits->pause_ms,
	};
	struct relay relay;
	int rc = relay_start(&relay, fifo, end, &limits), relayed;

	(void)close(fifo);
	if (rc < 0) {
		hprof_request_leave(&f->rq);
		return relay_failed(f, rc, err);
	}
	rc = take_all(f, relay.out, err);
	/* Segments are put together into a pipe that nobody reads: a broken one is logged. */
	if (rc < 0 && !f->rq.ways.segments)
		hprof_request_leave(&f->rq);
	relayed = relay_end(&relay);
	if (rc < 0 || relayed == 0)
		return rc;
	/* One that was killed did not take it all, and the JVM would wait for ever. */
	hprof_request_leave(&f->rq);
	return relay_failed(f, relayed, err);
}

static int through_fifo(struct flow *f, struct attach_reply *reply, struct err *err)
{
	int fifo = place_open(f->rq.place, err), rc;
	struct asking asking;

	if (fifo < 0)
		return -1;
	if (asking_start(&asking, f->rq.ctx->jvm, &f->rq.opts, &f->rq.attach, err) < 0) {
		(void)close(fifo);
		return -1;
	}
	rc = take_relayed(f, fifo, asking.end, err);
	if (asking_join(&asking, reply, err) < 0)
		return -1;
	if (rc < 0)
		attach_reply_release(reply);
	return rc;
}

/* The file has no name any more while it is read: nothing of it stays, however we end. */
static int through_file(struct flow *f, struct err *err)
{
	_cleanup_close_ int fd = place_open(f->rq.place, err);

	if (fd < 0)
		return -1;
	hprof_request_leave(&f->rq);
	return take_all(f, fd, err);
}

static int ask_for_dump(struct flow *f, struct err *err)
{
	const struct hprof_request *rq = &f->rq;
	struct hprof_answer answer;
	struct attach_reply reply;
	int64_t begin = io_now_ns();
	int rc;

	if (rq->ways.overwrite)
		rc = through_fifo(f, &reply, err);
	else
		rc = attach_execute_long(rq->ctx->jvm, &rq->opts, &rq->attach, &reply, err);
	if (rc < 0)
		return -1;
	rc = hprof_understand(rq, &reply, &answer, err);
	attach_reply_release(&reply);
	steps_add(rq->ctx->steps, "the JVM was at it for %.3f ms",
		  (double)(io_now_ns() - begin) / 1e6);
	if (rc == 0 && !rq->ways.overwrite)
		rc = through_file(f, err);
	if (rc == 0 && answer.bytes >= 0 && (uint64_t)answer.bytes != f->bytes)
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not whole: %llu of %lld bytes came",
			       (unsigned long long)f->bytes, (long long)answer.bytes);
	return rc;
}

int hprof_flow(const struct ctx *ctx, const struct hprof_limits *limits, hprof_piece_fn *take,
	       void *arg, struct err *err)
{
	const struct hprof_wanted wanted = { .all = false };
	struct flow flow = { .limits = limits, .take = take, .arg = arg };
	int rc = hprof_request_begin(&flow.rq, ctx, &wanted, err);

	if (rc == 0)
		rc = ask_for_dump(&flow, err);
	hprof_request_end(&flow.rq);
	return rc;
}
