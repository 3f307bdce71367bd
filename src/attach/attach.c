#include "target/attach.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/io.h"
#include "target/discover.h"
#include "target/point.h"
#include "target/trigger.h"

/* A socket file that vanishes or turns out to be dead is looked for again this often. */
#define TRIES 3
#define STARTING_MS 5
/* A JVM without hsperfdata is taken for one that is still starting until it is this old. */
#define STARTED_S 2
/* JDK 24 brought version 2 of the protocol (JDK-8219896), 25 streaming (JDK-8354460). */
#define FIRST_WITH_V2 24
#define FIRST_WITH_STREAMING 25
/* A JVM that does not know the version of a request answers with this (ATTACH_ERROR_BADVERSION). */
#define BAD_VERSION 101
#define VERSION_REPLY_MAX 4096
/* A JVM that works on an answer for long is looked at this often: is it still there? */
#define LOOK_MS 1000

static int disabled(const struct ns *ns, struct err *err)
{
	struct proc_status status;

	/* One that is just ending shows neither a socket nor a caught signal. */
	if (ns_status(ns, &status) < 0)
		return jvm_gone(ns->jvm, err);
	if (status.sig_caught & (UINT64_C(1) << (SIGQUIT - 1)))
		return err_set(err, EXIT_ATTACH,
			       "JVM %d was started with -XX:+DisableAttachMechanism: "
			       "nothing can attach to it, and no signal was sent",
			       (int)ns->jvm->pid);
	return err_set(err, EXIT_ATTACH,
		       "JVM %d was started with -Xrs and its attach socket was deleted: only a "
		       "restart brings it back; no signal was sent, for it would kill the JVM",
		       (int)ns->jvm->pid);
}

static int still_starting(const struct jvm *jvm, struct err *err)
{
	return err_set(err, EXIT_ATTACH,
		       "JVM %d is still starting, and a signal now could kill it: try again later, "
		       "or wait longer with --timeout",
		       (int)jvm->pid);
}

/* Through with its start, as far as it shows. */
static bool has_started(const struct jvm *jvm)
{
	return jvm->has_perfdata || (!jvm->starting && jvm->uptime > STARTED_S);
}

static bool has_started_by_now(const struct ns *ns)
{
	struct err ignored = { .code = EXIT_DONE };
	struct jvm *now = discover_pid(&ns->proc, ns->jvm->pid, &ignored);
	bool started = !now || has_started(now); /* one that is gone is noticed next */

	jvm_free(now);
	return started;
}

/*
 * Wait for the end of the JVM's start.  Before it, agents are refused ("only permitted in the
 * live phase"), and HotSpot may remove the socket that it has just opened, taking it for an
 * earlier process's (AttachListener::vm_start).
 */
static int wait_started(const struct point *point, struct deadline d, struct err *err)
{
	struct pollfd pfd = { .fd = point->ns.pid_fd, .events = POLLIN };

	if (has_started(point->ns.jvm))
		return 0;
	while (!has_started_by_now(&point->ns)) {
		if (point_check_running(point, err) < 0)
			return -1;
		if (deadline_passed(d))
			return still_starting(point->ns.jvm, err);
		(void)poll(&pfd, 1, STARTING_MS);
	}
	return 0;
}

/*
 * Wait until the JVM can be woken: one that is starting would be killed by the signal.  0 when
 * it can, 1 when its socket came by itself.
 */
static int wait_ready(const struct point *point, struct deadline d, struct err *err)
{
	const struct ns *ns = &point->ns;
	const struct jvm *jvm = ns->jvm;
	bool was_starting = false;

	for (;;) {
		struct pollfd pfd = { .fd = ns->pid_fd, .events = POLLIN };

		switch (discover_attach_state(&ns->proc, jvm)) {
		case ATTACH_LISTENING:
			return 1;
		case ATTACH_READY:
			if (!was_starting || has_started_by_now(ns))
				return 0;
			break;
		case ATTACH_DISABLED:
			return disabled(ns, err);
		case ATTACH_DENIED:
			return jvm_denied(jvm, err);
		case ATTACH_UNSUPPORTED:
			return err_set(err, EXIT_TARGET,
				       "process %d is a JVM, but no HotSpot: no attaching to it",
				       (int)jvm->pid);
		case ATTACH_STARTING:
			was_starting = true;
			break;
		}
		if (point_check_running(point, err) < 0)
			return -1;
		if (deadline_passed(d))
			return still_starting(jvm, err);
		(void)poll(&pfd, 1, STARTING_MS);
	}
}

/*
 * A connected descriptor whose peer is the target, or -1; wakes the listener when there is none.
 */
static int connect_or_wake(struct point *point, const struct attach_opts *opts, struct err *err)
{
	struct deadline d = deadline_in_ms(opts->timeout_ms);

	if (wait_started(point, d, err) < 0)
		return -1;
	for (int tries = 0; tries < TRIES; tries++) {
		int fd, rc = point_connect(point, d, &fd, err);

		if (rc < 0)
			return -1;
		if (rc > 0)
			return fd;
		steps_add(opts->steps, "no attach listener yet");
		rc = wait_ready(point, d, err);
		if (rc == 0)
			rc = trigger_pull(point, (unsigned)deadline_left_ms(d), opts->steps, err);
		if (rc < 0)
			return -1;
	}
	return err_set(err, EXIT_ATTACH, "JVM %d's attach socket %s/%s comes and goes",
		       (int)point->ns.jvm->pid, jvm_tmp(point->ns.jvm), point->socket);
}

/* Has the JVM read all of the request? */
static bool was_taken(int sock)
{
	int unread = 0;

	return ioctl(sock, TIOCOUTQ, &unread) == 0 && unread == 0;
}

/* The request was sent and nothing came back: say whether it was taken at all. */
static int silent(const struct point *point, int sock, const struct attach_opts *opts,
		  struct err *err)
{
	if (point_check_running(point, err) < 0)
		return -1;
	if (!was_taken(sock))
		return err_set(err, EXIT_ATTACH,
			       "JVM %d did not take the request in %g s: its attach listener is "
			       "busy with another one, or stuck",
			       (int)point->ns.jvm->pid, opts->timeout_ms / 1000.0);
	return err_set(err, EXIT_ATTACH,
		       "JVM %d took the request, but did not answer in %g s; it may still carry it "
		       "out: --timeout gives it longer",
		       (int)point->ns.jvm->pid, opts->timeout_ms / 1000.0);
}

/*
 * Wait until the answer begins: 0, or -ETIMEDOUT.  A patient caller's JVM has all the time that
 * it takes once it has read the request.
 */
static int wait_answer(const struct point *point, int sock, struct deadline d, bool patient)
{
	struct err ignored = { .code = EXIT_DONE }; /* silent() looks again, and says it */
	int rc = io_wait(sock, POLLIN, d);

	while (rc == -ETIMEDOUT && patient && was_taken(sock) &&
	       point_check_running(point, &ignored) == 0)
		rc = io_wait(sock, POLLIN, deadline_in_ms(LOOK_MS));
	return rc;
}

/* The connection ended without a byte. */
static int hung_up(const struct point *point, struct err *err)
{
	const struct jvm *jvm = point->ns.jvm;
	struct proc_status status;

	if (ns_status(&point->ns, &status) < 0)
		return err_set(err, EXIT_PARTIAL, "JVM %d went away before it answered",
			       (int)jvm->pid);
	return err_set(err, EXIT_ATTACH,
		       "JVM %d closed the connection without an answer: it takes requests only "
		       "from its own user and group (%u:%u), or it is shutting down",
		       (int)jvm->pid, jvm->uid, jvm->gid);
}

/* Such a request is left unread, which the kernel tells as a reset behind the answer. */
static bool is_bad_version(const struct spool *answer)
{
	int code;

	return attachproto_status(buf_str(&answer->memory), answer->memory.len, &code) >= 0 &&
	       code == BAD_VERSION;
}

/* Wait for more of an answer, for as long as the JVM is there and runs. */
static int wait_more(const struct point *point, int sock, struct err *err)
{
	while (io_wait(sock, POLLIN, deadline_in_ms(LOOK_MS)) == -ETIMEDOUT) {
		if (point_check_running(point, err) < 0)
			return -1;
	}
	return 0;
}

/* Take everything that the JVM sends, at once and for as long as it takes. */
static int drain(const struct point *point, int sock, struct spool *spool, struct err *err)
{
	struct proc_status status;
	char piece[65536];

	for (;;) {
		ssize_t n;
		int rc;

		if (wait_more(point, sock, err) < 0)
			return -1;
		n = io_read(sock, piece, sizeof(piece));
		if (n == 0 && spool_len(spool) == 0)
			return hung_up(point, err);
		if (n == 0)
			break;
		if (n == -ECONNRESET && spool_len(spool) == 0)
			return hung_up(point, err);
		if (n == -ECONNRESET && is_bad_version(spool))
			break;
		if (n < 0)
			return err_set(err, EXIT_PARTIAL, "the answer of JVM %d broke off: %s",
				       (int)point->ns.jvm->pid, strerror((int)-n));
		rc = spool_add(spool, piece, (size_t)n);
		if (rc < 0)
			return err_set(err, EXIT_PARTIAL, "the answer cannot be held: %s",
				       strerror(-rc));
	}
	/* A JVM that dies ends its answer just like one that is done. */
	if (ns_status(&point->ns, &status) < 0)
		return err_set(err, EXIT_PARTIAL, "JVM %d went away while it answered",
			       (int)point->ns.jvm->pid);
	return 0;
}

/* One request and its whole answer, over a connection of its own. */
static int exchange(struct point *point, const struct attach_opts *opts, bool patient,
		    const struct buf *request, struct spool *answer, struct err *err)
{
	_cleanup_close_ int sock = connect_or_wake(point, opts, err);
	struct deadline d;
	int rc;

	if (sock < 0)
		return -1;
	steps_add(opts->steps, "connected");
	d = deadline_in_ms(opts->timeout_ms);
	rc = io_write_all(sock, request->data, request->len, d);
	/* A JVM that hangs up before it has read all may have said why. */
	if (rc == 0 || rc == -EPIPE || rc == -ECONNRESET)
		rc = wait_answer(point, sock, d, patient);
	if (rc == -ETIMEDOUT)
		return silent(point, sock, opts, err);
	if (rc < 0)
		return err_set(err, EXIT_ATTACH, "the request to JVM %d failed: %s",
			       (int)point->ns.jvm->pid, strerror(-rc));
	steps_add(opts->steps, "the answer begins");
	return drain(point, sock, answer, err);
}

/*
 * The version that a JVM speaks by its release, 0 when it may be one or the other: a JVM that
 * was started to speak version 1 only logs an error for each request of version 2.
 */
static struct attach_version usual_version(const struct jvm *jvm)
{
	int feature = jvm_feature(jvm);

	if (feature > 0 && feature < FIRST_WITH_V2)
		return (struct attach_version){ .version = 1 };
	if (feature >= FIRST_WITH_STREAMING && jvm->has_perfdata &&
	    !(jvm->flags && strstr(jvm->flags, "jdk.attach.compat")))
		return (struct attach_version){ .version = 2, .streaming = true };
	return (struct attach_version){ .version = 0 };
}

static int ask_version(struct point *point, const struct attach_opts *opts,
		       struct attach_version *version, struct err *err)
{
	static const char *const args[] = { "options" };
	static const struct attach_request req = { "getversion", args, ARRAY_SIZE(args) };
	_cleanup_buf_ struct buf request = BUF_INIT, text = BUF_INIT;
	struct spool answer = SPOOL_INIT;
	int rc;

	*version = (struct attach_version){ .version = 1 };
	rc = attachproto_request(&request, &req, *version, err);
	if (rc == 0)
		rc = exchange(point, opts, false, &request, &answer, err);
	if (rc == 0 && spool_text(&answer, &text, VERSION_REPLY_MAX) == 0)
		*version = attachproto_version(buf_str(&text), text.len);
	spool_release(&answer);
	steps_add(opts->steps, "attach protocol version %d%s", version->version,
		  version->streaming ? ", streaming off" : "");
	return rc;
}

static int split(const struct point *point, struct spool *answer, int *code, struct err *err)
{
	ssize_t at = attachproto_status(buf_str(&answer->memory), answer->memory.len, code);

	if (at < 0)
		return err_set(err, EXIT_ATTACH,
			       "JVM %d answered with something else than a reply: '%.40s'",
			       (int)point->ns.jvm->pid, buf_str(&answer->memory));
	spool_skip(answer, (size_t)at);
	return 0;
}

static int execute_as(struct point *point, const struct attach_opts *opts, bool patient,
		      const struct attach_request *req, struct attach_version version,
		      struct attach_reply *reply, struct err *err)
{
	_cleanup_buf_ struct buf request = BUF_INIT;
	struct attach_reply r = { .output = SPOOL_INIT };

	if (attachproto_request(&request, req, version, err) < 0)
		return -1;
	if (exchange(point, opts, patient, &request, &r.output, err) < 0 ||
	    split(point, &r.output, &r.code, err) < 0) {
		attach_reply_release(&r);
		return -1;
	}
	*reply = r;
	return 0;
}

/*
 * In the usual version of its release, which saves asking.  A JVM that speaks another one after
 * all refuses the request unread; then it is asked.
 */
static int execute(struct point *point, const struct attach_opts *opts, bool patient,
		   const struct attach_request *req, struct attach_reply *reply, struct err *err)
{
	struct attach_version version = usual_version(point->ns.jvm);

	if (version.version > 0) {
		if (execute_as(point, opts, patient, req, version, reply, err) < 0)
			return -1;
		if (reply->code != BAD_VERSION)
			return 0;
		attach_reply_release(reply);
	}
	if (ask_version(point, opts, &version, err) < 0)
		return -1;
	return execute_as(point, opts, patient, req, version, reply, err);
}

static int open_and_execute(const struct jvm *jvm, const struct attach_opts *opts, bool patient,
			    const struct attach_request *req, struct attach_reply *reply,
			    struct err *err)
{
	struct point point;
	int rc;

	if (point_open(jvm, &point, err) < 0)
		return -1;
	rc = execute(&point, opts, patient, req, reply, err);
	point_close(&point);
	return rc;
}

int attach_execute(const struct jvm *jvm, const struct attach_opts *opts,
		   const struct attach_request *req, struct attach_reply *reply, struct err *err)
{
	return open_and_execute(jvm, opts, false, req, reply, err);
}

int attach_execute_long(const struct jvm *jvm, const struct attach_opts *opts,
			const struct attach_request *req, struct attach_reply *reply,
			struct err *err)
{
	return open_and_execute(jvm, opts, true, req, reply, err);
}

void attach_reply_release(struct attach_reply *reply)
{
	spool_release(&reply->output);
}
