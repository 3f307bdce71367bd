#include "cmd/hprof.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/drain.h"
#include "cmd/fetch.h"
#include "cmd/hprof_request.h"
#include "target/asking.h"

#define READ_BYTES (64 * 1024) /* of the dump, to find its records */

/*
 * The caller's file cannot take the dump.  A JVM that stands still while it writes gets a broken
 * pipe, and goes on.  One that only puts its segments together may write to nobody: a pipe that
 * breaks makes it log an error.
 */
static void take_no_more(struct hprof_request *rq, int fifo, int end)
{
	int null = rq->ways.segments ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

	if (null < 0 || drain_fifo(fifo, null, end, NULL) < 0)
		hprof_request_leave(rq);
	util_close_p(&null);
}

/* Take the dump while the JVM writes it. */
static int through_fifo(struct hprof_request *rq, struct outfile *out,
			struct attach_reply *reply, struct err *err)
{
	_cleanup_close_ int fifo = place_open(rq->place, err);
	struct asking asking;
	int rc;

	if (fifo < 0 || asking_start(&asking, rq->ctx->jvm, &rq->opts, &rq->attach, err) < 0)
		return -1;
	rc = drain_fifo(fifo, out->fd, asking.end, "heap dump");
	if (rc < 0) {
		(void)outfile_failed(out, rc, err);
		take_no_more(rq, fifo, asking.end);
	}
	util_close_p(&fifo);
	fifo = -1;
	if (asking_join(&asking, reply, err) < 0)
		return -1;
	if (rc < 0)
		attach_reply_release(reply);
	return rc < 0 ? -1 : 0;
}

static int ask_for_dump(struct hprof_request *rq, struct outfile *out,
			struct hprof_answer *answer, struct err *err)
{
	struct attach_reply reply;
	uint64_t size;
	int rc;

	if (rq->ways.overwrite)
		rc = through_fifo(rq, out, &reply, err);
	else
		rc = attach_execute_long(rq->ctx->jvm, &rq->opts, &rq->attach, &reply, err);
	if (rc < 0)
		return -1;
	rc = hprof_understand(rq, &reply, answer, err);
	attach_reply_release(&reply);
	if (rc == 0 && !rq->ways.overwrite)
		rc = fetch_result(rq->place, out, &size, err);
	return rc;
}

/* The last word about a dump is its own: is it all there? */
static int check_bytes(int fd, uint64_t size, bool gzip, struct err *err)
{
	struct hprof_walk walk = { .size = size };
	uint8_t data[READ_BYTES];
	ssize_t n;
	int rc;

	do {
		n = pread(fd, data, sizeof(data), (off_t)walk.at);
		if (n < 0)
			return err_set(err, EXIT_PARTIAL, "the dump cannot be read back: %s",
				       strerror(errno));
		if (gzip)
			rc = hprof_is_gzip(data, (size_t)n) ? 0 : -EBADMSG;
		else
			rc = hprof_walk_step(&walk, data, (size_t)n);
	} while (rc > 0 && n > 0);
	return rc == 0 ? 0
		       : err_set(err, EXIT_PARTIAL,
				 "the dump is not whole: it makes no sense from byte %" PRIu64
				 " of %" PRIu64 " on",
				 walk.at, size);
}

static int check_dump(bool gzip, const struct outfile *out, const struct hprof_answer *answer,
		      struct err *err)
{
	struct stat st;

	if (fstat(out->fd, &st) < 0)
		return err_set(err, EXIT_PARTIAL, "the dump cannot be read back: %s",
			       strerror(errno));
	if (answer->bytes >= 0 && answer->bytes != st.st_size)
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not whole: %lld of %lld bytes came",
			       (long long)st.st_size, (long long)answer->bytes);
	return check_bytes(out->fd, (uint64_t)st.st_size, gzip, err);
}

int hprof_take(const struct ctx *ctx, const struct hprof_wanted *wanted, struct outfile *out,
	       struct err *err)
{
	struct hprof_answer answer;
	struct hprof_request rq;
	int rc = hprof_request_begin(&rq, ctx, wanted, err);

	if (rc == 0)
		rc = ask_for_dump(&rq, out, &answer, err);
	hprof_request_end(&rq);
	return rc < 0 ? -1 : check_dump(wanted->gzip > 0, out, &answer, err);
}
