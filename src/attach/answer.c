#include "attach/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "attach/protocol.h"
#include "fileio/io.h"
#include "fileio/watchdog.h"

/* While jtool waits for an answer, it checks every CHECK_MS ms that the JVM is alive. */
#define CHECK_MS 1000
/*
 * jtool waits at least this many ms for the rest of an answer, even if the answer begins just
 * before the deadline.
 */
#define LATE_MS 1000
/* For the first READ_SOON_NS, jtool polls without a sleep whether the JVM has read the request. */
#define READ_SOON_NS 100000
/* The first and the longest interval in ns between two later polls */
#define READ_STEP_NS 20000
#define READ_STEP_MAX_NS 5000000
#define STATUS_MAX 64 /* longest status line in bytes; not counted in opts->max */

/*
 * Returns a number that grows while the JVM makes progress: the number of bytes of the answer that
 * were received, plus the number of bytes that opts->progress reports.
 */
static uint64_t progress(const struct answer_reader *r, uint64_t received)
{
	const struct attach_progress *p = r->opts->progress;

	return received + (p ? p->bytes(p->arg) : 0);
}

static bool is_late(struct answer_reader *r, uint64_t received)
{
	return stall_is_late(&r->stall, progress(r, received));
}

/*
 * Shows on a terminal, after a second, that jtool waits for the answer.  Shows nothing if
 * opts->progress is set, because a command that sets opts->progress shows a line of its own.
 */
static void show_wait(struct answer_reader *r)
{
	if (r->begin_ns == 0) {
		r->begin_ns = monotonic_ns() - CHECK_MS * INT64_C(1000000);
		if (!r->opts->steps && !r->opts->progress)
			progress_begin(&r->line);
	}
	progress_wait(&r->line, "the answer", (int)r->asock->ns.jvm->pid, r->begin_ns);
}

/*
 * Waits for data or for the end of the connection.  Returns 0; -ETIMEDOUT after CHECK_MS ms, or at
 * r->stall.end if that is earlier; or another negative errno.
 */
static int wait_a_while(struct answer_reader *r)
{
	int left = deadline_left_ms(r->stall.end), rc;

	watchdog_extend(CHECK_MS);
	rc = io_wait(r->sock, POLLIN, deadline_in_ms(left < CHECK_MS ? (unsigned)left : CHECK_MS));
	if (rc == -ETIMEDOUT)
		show_wait(r);
	return rc;
}

/* Returns a number above 0 if the JVM has not read all that was sent; 0; or -1 if unknown. */
static int unread(int sock)
{
	int n;

	return ioctl(sock, TIOCOUTQ, &n) < 0 ? -1 : n;
}

/*
 * Waits until the JVM has read all that was sent.  Returns 0, also if the kernel cannot report
 * that; 1 if the JVM has sent an answer or has ended the connection; or a negative errno.
 *
 * No event reports the reading, so this function polls.  An idle listener reads within 50 us: for
 * READ_SOON_NS, this function only yields the CPU, because the shortest sleep takes longer.
 */
static int await_reading(struct answer_reader *r, struct deadline d)
{
	struct pollfd pfd = { .fd = r->sock, .events = POLLIN };
	struct timespec step = { 0, READ_STEP_NS };
	const int64_t begin_ns = monotonic_ns();
	int64_t shown_ns = begin_ns;

	while (unread(r->sock) > 0) {
		int n;

		if (monotonic_ns() - begin_ns < READ_SOON_NS) {
			(void)sched_yield(); /* cannot fail on Linux */
			continue;
		}
		n = ppoll(&pfd, 1, &step, NULL);
		if (n > 0)
			return 1;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (deadline_passed(d))
			return -ETIMEDOUT;
		if (step.tv_nsec < READ_STEP_MAX_NS)
			step.tv_nsec *= 2;
		if (monotonic_ns() - shown_ns < CHECK_MS * INT64_C(1000000))
			continue;
		shown_ns = monotonic_ns();
		watchdog_extend(CHECK_MS);
		show_wait(r);
	}
	return 0;
}

/*
 * Sends a first part of the request, waits until the JVM has read it, and sends the rest.
 *
 * The first part is all except the last byte.  For a JDK with version 2, it is a zero before the
 * number of the version: the JVM then logs no error if the connection ends there, because it has
 * read the value 0 (AttachOperation::RequestReader::read_uint()).
 */
static int send_in_two(struct answer_reader *r, const struct buf *request, struct deadline d)
{
	const bool takes_zero = request->data[0] == '2' ||
				jvm_feature(r->asock->ns.jvm) >= ATTACH_V2_FIRST;
	const size_t held = takes_zero ? request->len : 1, at = request->len - held;
	int rc = takes_zero ? io_write_all(r->sock, "0", 1, d)
			    : io_write_all(r->sock, request->data, at, d);

	if (rc == 0)
		rc = await_reading(r, d);
	if (rc == 0)
		rc = io_write_all(r->sock, request->data + at, held, d);
	r->is_withheld = rc == -ETIMEDOUT;
	return rc < 0 ? rc : 0;
}

int answer_request(struct answer_reader *r, const struct buf *request, struct deadline d,
		   struct err *err)
{
	int rc = send_in_two(r, request, d);

	/*
	 * After -EPIPE or -ECONNRESET, the answer is still read: a JVM that closes the connection
	 * too early may have sent the reason.  After -ETIMEDOUT, answer_await() sets the error.
	 */
	if (rc == 0 || rc == -EPIPE || rc == -ECONNRESET || rc == -ETIMEDOUT)
		return 0;
	progress_end(&r->line);
	return err_set(err, EXIT_ATTACH, "cannot send a request to JVM %d: %s; try again",
		       (int)r->asock->ns.jvm->pid, strerror(-rc));
}

/*
 * Sets the error for a JVM that has sent no answer.  The text says whether the JVM may carry out
 * the request.
 */
static int no_answer(const struct answer_reader *r, struct err *err)
{
	int pid = (int)r->asock->ns.jvm->pid;

	if (attach_socket_check_running(r->asock, err) < 0)
		return -1;
	if (r->is_withheld)
		return err_set(err, EXIT_ATTACH,
			       "JVM %d did not answer within %g s: its attach listener is busy or "
			       "stuck; the JVM will not carry out the request; use --timeout to "
			       "wait longer", pid, r->opts->timeout_ms / 1000.0);
	return err_set(err, EXIT_ATTACH,
		       "JVM %d did not answer within %g s; it has read the request and may still "
		       "carry it out; use --timeout to wait longer",
		       pid, r->stall.ms / 1000.0);
}

/* Sets the error for a poll(2) that failed with this negative errno. */
static int cannot_wait(const struct answer_reader *r, int rc, struct err *err)
{
	return err_set(err, EXIT_ATTACH, "cannot wait for the answer of JVM %d: %s; try again",
		       (int)r->asock->ns.jvm->pid, strerror(-rc));
}

static void begin_long(struct answer_reader *r)
{
	unsigned ms = r->opts->timeout_ms;

	r->stall = stall_begin(ms > ATTACH_LONG_MS ? ms : ATTACH_LONG_MS);
	r->stall.seen = progress(r, 0);
}

/*
 * Waits for the answer of a long operation after the JVM has read the request.  Gives up when
 * progress() has grown by less than STALL_BYTES in ATTACH_LONG_MS, or in timeout_ms if that is
 * longer.
 */
static int await_long(struct answer_reader *r, struct err *err)
{
	int rc;

	begin_long(r);
	while ((rc = wait_a_while(r)) == -ETIMEDOUT) {
		if (attach_socket_check_running(r->asock, err) < 0)
			return -1;
		if (is_late(r, 0))
			return no_answer(r, err);
	}
	return rc < 0 ? cannot_wait(r, rc, err) : 0;
}

static int await(struct answer_reader *r, struct deadline sent, struct err *err)
{
	int rc;

	r->stall = (struct stall){ .end = sent, .ms = r->opts->timeout_ms };
	while ((rc = wait_a_while(r)) == -ETIMEDOUT) {
		if (!deadline_passed(sent))
			continue;
		if (r->is_long && !r->is_withheld && unread(r->sock) == 0)
			return await_long(r, err);
		return no_answer(r, err);
	}
	return rc < 0 ? cannot_wait(r, rc, err) : 0;
}

int answer_await(struct answer_reader *r, struct deadline sent, struct err *err)
{
	int rc = await(r, sent, err);

	progress_end(&r->line);
	return rc;
}

/* Sets the error for a JVM that closed the connection without sending a byte of an answer. */
static int hung_up(const struct attach_socket *asock, struct err *err)
{
	const struct jvm *jvm = asock->ns.jvm;
	struct proc_status status;

	if (target_ns_status(&asock->ns, &status) < 0)
		return err_set(err, EXIT_PARTIAL, "JVM %d exited before it answered",
			       (int)jvm->pid);
	return err_set(err, EXIT_ATTACH,
		       "JVM %d closed the connection without an answer: it is shutting down, or "
		       "accepts requests only from its own user and group; try again, or run jtool "
		       "as %u:%u",
		       (int)jvm->pid, jvm->uid, jvm->gid);
}

bool answer_is_bad_version(const struct spool *answer)
{
	int code;

	return attach_protocol_status(buf_str(&answer->memory), answer->memory.len, &code) >= 0 &&
	       code == ATTACH_BAD_VERSION;
}

static int not_finished(const struct answer_reader *r, uint64_t received, struct err *err)
{
	return err_set(err, EXIT_PARTIAL,
		       "JVM %d stopped in the middle of its answer: %llu bytes received, less "
		       "than %u KB of them in the last %g s; use --timeout to wait longer",
		       (int)r->asock->ns.jvm->pid, (unsigned long long)received,
		       STALL_BYTES / 1024, r->stall.ms / 1000.0);
}

/* Waits for more data of an answer.  After the deadline, still accepts data that has arrived. */
static int wait_more(struct answer_reader *r, uint64_t received, struct err *err)
{
	int rc;

	while ((rc = wait_a_while(r)) == -ETIMEDOUT) {
		if (attach_socket_check_running(r->asock, err) < 0)
			return -1;
		if (is_late(r, received))
			return not_finished(r, received, err);
	}
	return rc < 0 ? cannot_wait(r, rc, err) : 0;
}

static int too_long(const struct answer_reader *r, uint64_t max, struct err *err)
{
	const unsigned long long mb = max >> 20;

	return err_set(err, EXIT_PARTIAL,
		       "the answer of JVM %d is longer than %llu MB, the limit for such answers; "
		       "ask for less, or omit --json", (int)r->asock->ns.jvm->pid, mb > 0 ? mb : 1);
}

/*
 * Adds the received data to the answer.  Returns 0; 1 if the answer has reached its limit and is
 * cut off there; or -1 with err set.
 */
static int add(const struct answer_reader *r, struct spool *answer, const char *data, size_t len,
	       struct err *err)
{
	uint64_t max = r->opts->max > 0 ? r->opts->max : ATTACH_ANSWER_MAX;
	bool is_over = spool_len(answer) + len > max + STATUS_MAX;
	int rc;

	if (is_over && !r->opts->cut)
		return too_long(r, max, err);
	if (is_over)
		len = max > spool_len(answer) ? (size_t)(max - spool_len(answer)) : 0;
	rc = spool_add(answer, data, len);
	if (rc < 0)
		return io_temp_failed(err, rc, "the answer of JVM %d", (int)r->asock->ns.jvm->pid);
	return is_over;
}

static int read_all(struct answer_reader *r, struct spool *answer, struct err *err)
{
	const struct attach_socket *asock = r->asock;
	struct proc_status status;
	char chunk[65536];

	if (r->is_long)
		begin_long(r);
	else if (deadline_left_ms(r->stall.end) < LATE_MS)
		r->stall.end = deadline_in_ms(LATE_MS);
	for (;;) {
		ssize_t n;
		int rc;

		if (wait_more(r, spool_len(answer), err) < 0)
			return -1;
		n = io_read(r->sock, chunk, sizeof(chunk));
		if ((n == 0 || n == -ECONNRESET) && spool_len(answer) == 0)
			return hung_up(asock, err);
		/*
		 * A reset of the connection ends the answer, too, if the JVM refuses the version of
		 * the request: the JVM then closes the connection before it has read the complete
		 * request, and the kernel reports that as a reset.
		 */
		if (n == 0 || (n == -ECONNRESET && answer_is_bad_version(answer)))
			break;
		if (n < 0)
			return err_set(err, EXIT_PARTIAL,
				       "the answer of JVM %d was cut off: %s; try again",
				       (int)asock->ns.jvm->pid, strerror((int)-n));
		rc = add(r, answer, chunk, (size_t)n, err);
		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	/*
	 * The end of the connection is the end of the answer, unless the connection has ended
	 * because the JVM has died: check that the JVM is alive.
	 */
	if (target_ns_status(&asock->ns, &status) < 0)
		return err_set(err, EXIT_PARTIAL, "JVM %d exited while it answered",
			       (int)asock->ns.jvm->pid);
	return 0;
}

int answer_read(struct answer_reader *r, struct spool *answer, struct err *err)
{
	int rc = read_all(r, answer, err);

	progress_end(&r->line);
	return rc;
}
