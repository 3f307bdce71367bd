#include "attach/attach.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "fileio/io.h"
#include "discover/discover.h"
#include "discover/jvm_record.h"
#include "discover/memory_check.h"
#include "proc/mounts.h"
#include "worker/worker.h"
#include "attach/answer.h"
#include "attach/attach_socket.h"
#include "attach/memory_use.h"
#include "attach/sigquit.h"

/*
 * Number of attempts to connect; more than one, because the socket file may disappear or have no
 * listener.
 */
#define TRIES 3
#define STARTING_MS 5
/*
 * A worker must connect within the timeout.  jtool waits this many ms longer than the timeout,
 * because starting the worker and receiving its answer take time.
 */
#define CONNECT_LATE_MS 700
/* Age in seconds at which a JVM without hsperfdata counts as started. */
#define STARTED_S 2
#define FIRST_WITH_STREAMING 25 /* JDK-8354460 */
#define VERSION_REPLY_MAX 4096

static int attach_disabled(const struct target_ns *ns, struct err *err)
{
	struct proc_status status;

	/*
	 * Check for an exit first, because an exiting process shows neither a socket nor a caught
	 * signal.
	 */
	if (target_ns_status(ns, &status) < 0)
		return jvm_gone(ns->jvm, err);
	if (status.sig_caught & (UINT64_C(1) << (SIGQUIT - 1)))
		return err_set(err, EXIT_ATTACH,
			       "JVM %d was started with -XX:+DisableAttachMechanism: nothing can "
			       "attach to it, and no signal was sent; jtool info and stat do not "
			       "attach", (int)ns->jvm->pid);
	return err_set(err, EXIT_ATTACH,
		       "JVM %d was started with -Xrs and its attach socket was deleted: only a "
		       "restart brings it back; no signal was sent, as it would kill the JVM",
		       (int)ns->jvm->pid);
}

static int still_starting(const struct jvm *jvm, struct err *err)
{
	return err_set(err, EXIT_ATTACH,
		       "JVM %d is still starting and a signal could kill it; try again later, or "
		       "use --timeout to wait longer",
		       (int)jvm->pid);
}

/* A JVM counts as started if its hsperfdata is complete; without hsperfdata, after STARTED_S. */
static bool has_started(const struct jvm *jvm)
{
	return jvm->has_perfdata || (!jvm->starting && jvm->uptime > STARTED_S);
}

static bool has_started_by_now(const struct target_ns *ns)
{
	struct err ignored = { .code = EXIT_DONE };
	struct jvm *now = inspect_pid(&ns->proc, ns->jvm->pid, &ignored);
	/* A JVM that has exited counts as started: the caller detects the exit next. */
	bool started = !now || has_started(now);

	jvm_free(now);
	return started;
}

/*
 * Waits until the JVM has started.  Until then, the JVM refuses agents ("only permitted in the live
 * phase"), and HotSpot may mistake its own new socket for a stale one and remove it
 * (AttachListener::vm_start).
 */
static int wait_started(const struct attach_socket *asock, struct deadline d, struct err *err)
{
	struct pollfd pfd = { .fd = asock->ns.pid_fd, .events = POLLIN };
	struct progress line = { .on = false };
	int64_t since_ns = monotonic_ns();
	int rc = 0;

	if (has_started(asock->ns.jvm))
		return 0;
	progress_begin(&line);
	while (rc == 0 && !has_started_by_now(&asock->ns)) {
		rc = attach_socket_check_running(asock, err);
		if (rc == 0 && deadline_passed(d))
			rc = still_starting(asock->ns.jvm, err);
		if (rc == 0)
			(void)poll(&pfd, 1, STARTING_MS);
		progress_wait(&line, "the start", (int)asock->ns.jvm->pid, since_ns);
	}
	progress_end(&line);
	return rc;
}

/*
 * Waits until SIGQUIT is safe, because the signal would kill a JVM that is still starting.  Returns
 * 0 when the signal can be sent; 1 if the JVM has opened its socket during the wait; or -1 with
 * `err` set.
 */
static int wait_ready(const struct attach_socket *asock, struct deadline d, struct err *err)
{
	const struct target_ns *ns = &asock->ns;
	const struct jvm *jvm = ns->jvm;
	bool was_starting = false;

	for (;;) {
		struct pollfd pfd = { .fd = ns->pid_fd, .events = POLLIN };

		switch (inspect_attach_state(&ns->proc, jvm)) {
		case ATTACH_LISTENING:
			return 1;
		case ATTACH_READY:
		case ATTACH_READ_ONLY: /* sigquit_wake() reports which file it cannot create */
			if (!was_starting || has_started_by_now(ns))
				return 0;
			break;
		case ATTACH_DISABLED:
			return attach_disabled(ns, err);
		case ATTACH_DENIED:
			return jvm_denied(jvm, err);
		case ATTACH_UNSUPPORTED:
			return err_set(err, EXIT_TARGET,
				       "cannot attach to process %d: it is a JVM but not HotSpot; "
				       "use its vendor's tools", (int)jvm->pid);
		case ATTACH_UNREACHABLE:
			return discover_lost_worker(jvm, -ETIMEDOUT, err);
		case ATTACH_STARTING:
			was_starting = true;
			break;
		}
		if (attach_socket_check_running(asock, err) < 0)
			return -1;
		if (deadline_passed(d))
			return still_starting(jvm, err);
		(void)poll(&pfd, 1, STARTING_MS);
	}
}

/*
 * Connects to the JVM's socket; if nothing listens, makes the JVM start its listener.  Returns a
 * connected descriptor, or -1 with err set.
 */
static int connect_or_wake(struct attach_socket *asock, const struct attach_opts *opts,
			   struct err *err)
{
	struct deadline d = deadline_in_ms(opts->timeout_ms);
	const struct jvm *jvm = asock->ns.jvm;

	if (wait_started(asock, d, err) < 0)
		return -1;
	for (int tries = 0; tries < TRIES; tries++) {
		int fd, rc = attach_socket_connect(asock, d, &fd, err);

		if (rc < 0)
			return -1;
		if (rc > 0)
			return fd;
		verbose_step(opts->steps, "no attach listener yet");
		rc = wait_ready(asock, d, err);
		if (rc == 0)
			rc = sigquit_wake(asock, (unsigned)deadline_left_ms(d), opts->steps, err);
		if (rc < 0)
			return -1;
	}
	return err_set(err, EXIT_ATTACH,
		       "cannot attach to JVM %d: /proc/%d/root%s/%s was deleted each time before "
		       "jtool could connect; find out what deletes files there", (int)jvm->pid,
		       (int)jvm->pid, jvm_tmp(jvm), asock->socket);
}

/* The start of a request to the worker.  A record of the JVM follows it (jvm_record.h). */
struct connect_request {
	unsigned timeout_ms;
	bool verbose;
};

static int connect_in_worker(const struct buf *request, struct buf *answer, int *fd,
			     struct err *err)
{
	static const struct verbose steps;
	struct attach_opts opts = { .steps = NULL };
	struct connect_request r;
	struct attach_socket asock;
	struct jvm *jvm;

	(void)answer;
	memcpy(&r, request->data, sizeof(r));
	jvm = jvm_record_parse(request->data + sizeof(r), request->len - sizeof(r));
	if (!jvm)
		return err_set(err, EXIT_ATTACH, "invalid request to the worker; report this bug");
	opts.timeout_ms = r.timeout_ms;
	opts.steps = r.verbose ? &steps : NULL;
	if (attach_socket_open(jvm, &asock, err) == 0) {
		*fd = connect_or_wake(&asock, &opts, err);
		attach_socket_close(&asock);
	}
	jvm_free(jvm);
	return *fd < 0 ? -1 : 0;
}

/*
 * Connects in a worker, because the JVM's tmp directory may be in a file system that does not
 * answer.  Uses the worker that has inspected the JVM, if there is one.  Returns a connected
 * socket, or -1 with err set.  Sets *w to the worker; the caller ends it.
 */
static int connect_by_worker(const struct jvm *jvm, const struct attach_opts *opts,
			     struct worker *w, struct err *err)
{
	struct worker *of_jvm = atomic_exchange(&((struct jvm *)jvm)->worker, NULL);
	const struct connect_request r = { opts->timeout_ms, opts->steps != NULL };
	_cleanup_buf_ struct buf request = BUF_INIT, answer = BUF_INIT;
	const struct worker_call call = {
		.fn = connect_in_worker, .request = &request, .max = 0,
		.deadline = deadline_in_ms(opts->timeout_ms + CONNECT_LATE_MS),
		.steps = opts->steps,
	};
	int fd = -1, rc;

	if (of_jvm)
		*w = *of_jvm;
	free(of_jvm);
	buf_add(&request, &r, sizeof(r));
	jvm_record_add(&request, jvm);
	rc = worker_start(w, NULL, 0);
	if (rc == 0)
		rc = worker_call(w, &call, &answer, &fd, err);
	if (rc < 0)
		return discover_lost_worker(jvm, rc, err);
	if (rc == 0 && fd < 0)
		return discover_lost_worker(jvm, -EBADMSG, err);
	return rc == 0 ? fd : -1;
}

/*
 * Connects in this process if the JVM's directories cannot block this process; else in a worker.
 * Returns and sets *w as connect_by_worker() does.
 */
static int connect_to(struct attach_socket *asock, const struct attach_opts *opts,
		      struct worker *w, struct err *err)
{
	int fd = -1, rc = 0;

	if (asock->tmp_fd >= 0)
		rc = attach_socket_connect(asock, deadline_in_ms(opts->timeout_ms), &fd, err);
	if (rc != 0)
		return rc < 0 ? -1 : fd;
	/*
	 * connect_or_wake() may create the trigger file in the JVM's working directory.  If that
	 * directory is in a detached mount, which mountinfo does not show, creating the file might
	 * block, so a worker does it.
	 */
	if (asock->tmp_fd >= 0 && (asock->ns.cwd_fd < 0 ||
				   mounts_have_file(&asock->ns.proc, asock->ns.cwd_fd)))
		return connect_or_wake(asock, opts, err);
	return connect_by_worker(asock->ns.jvm, opts, w, err);
}

/* Fills *asock.  Opens the JVM's directories only if their file systems cannot block. */
static int open_socket(const struct jvm *jvm, struct attach_socket *asock, struct err *err)
{
	struct procfs proc;
	bool local;

	if (jvm->hung) {
		(void)jvm_unreachable(jvm, NULL, err);
		return -1;
	}
	if (procfs_open(&proc, "/proc") < 0)
		return attach_socket_open_process(jvm, asock, err);
	local = mounts_are_local(&proc, jvm->pid);
	procfs_close(&proc);
	return local ? attach_socket_open(jvm, asock, err)
		     : attach_socket_open_process(jvm, asock, err);
}

/* Sends one request on a new connection, and reads the complete answer. */
static int exchange(struct attach_socket *asock, const struct attach_opts *opts, bool is_long,
		    const struct buf *request, struct spool *answer, struct err *err)
{
	_cleanup_(worker_end) struct worker worker = WORKER_INIT;
	_cleanup_close_ int sock = connect_to(asock, opts, &worker, err);
	struct answer_reader reader = {
		.asock = asock, .sock = sock, .opts = opts, .is_long = is_long
	};
	struct deadline d;
	int rc;

	if (sock < 0)
		return -1;
	verbose_step(opts->steps, "connected");
	if (opts->confirm && opts->confirm(opts->confirm_arg, err) < 0)
		return -1;
	d = deadline_in_ms(opts->timeout_ms);
	rc = answer_request(&reader, request, d, err);
	worker_end(&worker); /* end the worker while the JVM works on the answer */
	if (rc < 0 || answer_await(&reader, d, err) < 0)
		return -1;
	verbose_step(opts->steps, "the answer has begun");
	return answer_read(&reader, answer, err);
}

/*
 * Returns the protocol version that the JVM's release implies, or version 0 if the JVM must be
 * asked.  A JVM that may have the option jdk.attach.compat is asked, because this option restricts
 * the JVM to version 1, and the JVM would log an error for each request of version 2.
 */
static struct attach_version release_version(const struct jvm *jvm)
{
	int feature = jvm_feature(jvm);

	if (feature > 0 && feature < ATTACH_V2_FIRST)
		return (struct attach_version){ .version = 1 };
	if (feature >= FIRST_WITH_STREAMING && jvm->has_perfdata &&
	    !(jvm->flags && strstr(jvm->flags, "jdk.attach.compat")))
		return (struct attach_version){ .version = 2, .streaming = true };
	return (struct attach_version){ .version = 0 };
}

static int query_version(struct attach_socket *asock, const struct attach_opts *opts,
		       struct attach_version *version, struct err *err)
{
	static const char *const args[] = { "options" };
	static const struct attach_request req = { "getversion", args, ARRAY_SIZE(args) };
	_cleanup_buf_ struct buf request = BUF_INIT, text = BUF_INIT;
	const struct attach_opts short_opts = {
		.timeout_ms = opts->timeout_ms, .steps = opts->steps, .max = VERSION_REPLY_MAX
	};
	struct spool answer = SPOOL_INIT;
	int rc;

	*version = (struct attach_version){ .version = 1 };
	rc = attach_protocol_request(&request, &req, *version, err);
	if (rc == 0)
		rc = exchange(asock, &short_opts, false, &request, &answer, err);
	if (rc == 0 && spool_text(&answer, &text, VERSION_REPLY_MAX) == 0)
		*version = attach_protocol_version(buf_str(&text), text.len);
	spool_release(&answer);
	verbose_step(opts->steps, "attach protocol version %d%s", version->version,
		     version->streaming ? ", streaming off" : "");
	return rc;
}

static int take_status(const struct attach_socket *asock, struct spool *answer, int *code,
		 struct err *err)
{
	ssize_t at = attach_protocol_status(buf_str(&answer->memory), answer->memory.len, code);

	if (at < 0)
		return err_set(err, EXIT_ATTACH,
			       "JVM %d sent an invalid reply '%.40s': expected a status number in "
			       "the first line; report this bug", (int)asock->ns.jvm->pid,
			       buf_str(&answer->memory));
	spool_skip(answer, (size_t)at);
	return 0;
}

static int execute_as(struct attach_socket *asock, const struct attach_opts *opts, bool is_long,
		      const struct attach_request *req, struct attach_version version,
		      struct attach_reply *reply, struct err *err)
{
	_cleanup_buf_ struct buf request = BUF_INIT;
	struct attach_reply r = { .output = SPOOL_INIT };

	if (attach_protocol_request(&request, req, version, err) < 0)
		return -1;
	if (exchange(asock, opts, is_long, &request, &r.output, err) < 0 ||
	    take_status(asock, &r.output, &r.code, err) < 0) {
		attach_reply_release(&r);
		return -1;
	}
	*reply = r;
	return 0;
}

/*
 * Sends the request in the protocol version that the JVM's release implies.  Asks the JVM for its
 * protocol version only if the release implies none, or if the JVM refuses the implied one.
 */
static int execute(struct attach_socket *asock, const struct attach_opts *opts, bool is_long,
		   const struct attach_request *req, struct attach_reply *reply, struct err *err)
{
	struct attach_version version = release_version(asock->ns.jvm);

	if (version.version > 0) {
		if (execute_as(asock, opts, is_long, req, version, reply, err) < 0)
			return -1;
		if (reply->code != ATTACH_BAD_VERSION)
			return 0;
		attach_reply_release(reply);
	}
	if (query_version(asock, opts, &version, err) < 0)
		return -1;
	return execute_as(asock, opts, is_long, req, version, reply, err);
}

static int open_and_execute(const struct jvm *jvm, const struct attach_opts *opts, bool is_long,
			    const struct attach_request *req, struct attach_reply *reply,
			    struct err *err)
{
	struct attach_socket asock;
	int rc;

	if (memory_check(jvm, attach_memory_use(req), NULL, err) < 0 ||
	    open_socket(jvm, &asock, err) < 0)
		return -1;
	rc = execute(&asock, opts, is_long, req, reply, err);
	attach_socket_close(&asock);
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
