#include "session/staging/staged_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "fileio/child.h"
#include "fileio/io.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "discover/discover.h"
#include "discover/memory_check.h"
#include "session/staging/staging_dir.h"
#include "session/staging/staging_helper.h"
#include "session/staging/helper_msg.h"

#define TIMEOUT_MS 10000 /* default of timeout_ms: a file system may be slow or hang */

struct staged_file {
	/* pid of the helper; -1: no helper, or one for which staged_file_free() must not wait */
	pid_t helper;
	unsigned timeout_ms; /* maximum wait for each reply of the helper, and for its end */
	/* `control`: pipe for commands to the helper; `report`: socket for the helper's reports */
	int control, report;
	enum staged_file_kind kind;
	bool exposed;    /* another user could replace the file's directory */
	unsigned unread; /* number of commands whose replies have not been received yet */
	int fd;              /* a FIFO's read end, until staged_file_open() returns it; else -1 */
	struct buf paths;    /* in the target's root: path of the file, NUL, path of the socket */
};

/* Indexed by enum staged_file_kind: the exit code of an error, and words for its text. */
static const struct {
	enum exit_code code;
	const char *use;
} kinds[] = {
	[STAGED_FILE] = { EXIT_AGENT, "load a file from" },
	[STAGED_FIFO] = { EXIT_PARTIAL, "write to a pipe in" },
	[STAGED_RESULT] = { EXIT_PARTIAL, "write a file to" },
	[STAGED_SOCKET] = { EXIT_AGENT, "find a socket in" },
};

static int no_directory(const struct jvm *jvm, const struct staged_file_request *req,
			const char *why, struct err *err)
{
	_cleanup_free_ char *space = NULL;

	if (req->room > 0)
		space = xasprintf(", with %" PRIu64 " MB free", req->room / (1 << 20) + 1);
	return err_set(err, kinds[req->kind].code,
		       "there is no directory that JVM %d can %s: %s; make one of them writable "
		       "for it%s%s",
		       (int)jvm->pid, kinds[req->kind].use, why,
		       req->kind == STAGED_FILE && !req->is_data ? " and executable" : "",
		       space ? space : "");
}

/* Sets the error from a helper's report: the exit code as one digit, and then the error text. */
static int helper_failed(const struct jvm *jvm, const char *report, struct err *err)
{
	if (*report <= '0' + EXIT_DONE || *report > '0' + EXIT_PARTIAL)
		return discover_lost_worker(jvm, -EBADMSG, err);
	return err_set(err, (enum exit_code)(*report - '0'), "%s", report + 1);
}

static int receive_paths(struct staged_file *p, const struct jvm *jvm,
		      const struct staged_file_request *req, struct err *err)
{
	_cleanup_buf_ struct buf report = BUF_INIT;
	int rc = helper_msg_receive(p->report, &report, &p->fd, deadline_in_ms(p->timeout_ms));

	if (rc == -ETIMEDOUT) {
		p->helper = -1; /* the helper is blocked; when it continues, it removes the file */
		return discover_lost_worker(jvm, -ETIMEDOUT, err);
	}
	if (rc < 0)
		return err_killed(err, kinds[req->kind].code, "creates files for JVM %d",
				  (int)jvm->pid);
	if (report.data[0] == STAGING_FAILED)
		return helper_failed(jvm, report.data + 1, err);
	if (report.data[0] == STAGING_NO_USER)
		return jvm_cannot_become(jvm, report.data + 1, err);
	p->exposed = report.data[0] == STAGING_EXPOSED;
	if (report.data[0] != STAGING_READY && !p->exposed)
		return no_directory(jvm, req, report.data + 1, err);
	if (!memchr(report.data + 1, '\0', report.len - 2))
		return err_set(err, kinds[req->kind].code,
			       "the jtool process that creates files for JVM %d sent an invalid "
			       "report; report this bug", (int)jvm->pid);
	buf_add(&p->paths, report.data + 1, report.len - 1);
	return 0;
}

/*
 * The name of a mapped file contains a hash of its content, because the dynamic linker identifies a
 * library by its path: a library with other content must have another path.
 */
char *staged_file_name(const struct staged_file_request *req)
{
	if (req->kind == STAGED_SOCKET)
		return xstrdup(req->socket);
	if (req->kind != STAGED_FILE)
		return xasprintf(".%s%s", req->stem, req->suffix);
	return xasprintf("%s%s-%016llx%s", req->keep ? STAGING_KEPT : "", req->stem,
			 (unsigned long long)hash_bytes(req->data, req->len), req->suffix);
}

/* Returns how many more bytes files in memory may have before the target's cgroups are full. */
static uint64_t memory_for(const struct jvm *jvm)
{
	struct err ignored = { .code = EXIT_DONE };
	struct memory_room room;

	return memory_check(jvm, MEMORY_REQUEST, &room, &ignored) < 0 ? 0 : (uint64_t)room.jvm;
}

static int start(struct staged_file *p, const struct jvm *jvm,
		 const struct staged_file_request *req, struct err *err)
{
	_cleanup_free_ char *name = staged_file_name(req);
	uint64_t memory = req->room > 0 ? memory_for(jvm) : 0;
	int report[2], control[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) < 0)
		return err_no_descriptor(err, EXIT_AGENT, -errno,
					 "a socket to the process that creates files for JVM %d",
					 (int)jvm->pid);
	p->report = report[0];
	if (pipe2(control, O_CLOEXEC) < 0) {
		(void)close(report[1]);
		return err_no_descriptor(err, EXIT_AGENT, -errno,
					 "a pipe to the process that creates files for JVM %d",
					 (int)jvm->pid);
	}
	p->control = control[1];
	p->helper = staging_helper_start(
		&(struct staging_helper_job){ jvm, req, name, memory, report[1], control[0] });
	(void)close(report[1]);
	(void)close(control[0]);
	if (p->helper < 0)
		return err_not_started(err, EXIT_AGENT, p->helper,
				       "the process that creates files for JVM %d", (int)jvm->pid);
	return 0;
}

struct staged_file *staged_file_new(const struct jvm *jvm, const struct staged_file_request *req,
				    const struct verbose *verbose, struct err *err)
{
	struct staged_file *p = xcalloc(1, sizeof(*p));

	p->helper = p->report = p->control = p->fd = -1;
	p->kind = req->kind;
	p->timeout_ms = req->timeout_ms ? req->timeout_ms : TIMEOUT_MS;
	if (start(p, jvm, req, err) < 0 || receive_paths(p, jvm, req, err) < 0) {
		staged_file_free(p);
		return NULL;
	}
	verbose_step(verbose, "staged %s%s", staged_file_path(p),
		     p->exposed ? ", where other users can rename directories" : "");
	return p;
}

const char *staged_file_path(const struct staged_file *p)
{
	return buf_str(&p->paths);
}

const char *staged_file_socket_path(const struct staged_file *p)
{
	return p->paths.data + strlen(p->paths.data) + 1;
}

/*
 * Sends a command to the helper, and receives the reply.  The helper replies once to each such
 * command, in the order of the commands.  So first skips the replies that earlier calls did not
 * wait for.  Returns 0 or a negative errno.
 */
static int ask(struct staged_file *p, char command, struct buf *reply, int *fd)
{
	const struct deadline deadline = deadline_in_ms(p->timeout_ms);
	int rc = io_write_all(p->control, &command, 1, deadline);

	if (rc < 0)
		return rc;
	p->unread++;
	do {
		_cleanup_close_ int skipped = TAKE_FD(*fd);

		buf_reset(reply);
		rc = helper_msg_receive(p->report, reply, fd, deadline);
		if (rc < 0)
			return rc;
		p->unread--;
	} while (p->unread > 0);
	return 0;
}

int staged_file_confirm(void *staged, struct err *err)
{
	struct staged_file *p = staged;
	_cleanup_buf_ struct buf reply = BUF_INIT;
	_cleanup_close_ int fd = -1;
	int rc;

	if (!p->exposed)
		return 0;
	rc = ask(p, STAGING_CONFIRM, &reply, &fd);
	if (rc < 0)
		return err_set(err, kinds[p->kind].code,
			       "cannot check the directory of %s: %s; try again",
			       staged_file_path(p), strerror(-rc));
	if (reply.data[0] != STAGING_IN_PLACE)
		return err_set(err, kinds[p->kind].code,
			       "another process has replaced the directory of %s; set the sticky "
			       "bit of the directory above it", staged_file_path(p));
	return 0;
}

int staged_file_open(struct staged_file *p, struct err *err)
{
	_cleanup_buf_ struct buf reply = BUF_INIT;
	int rc, fd = -1;

	if (p->fd >= 0)
		return TAKE_FD(p->fd);
	rc = ask(p, STAGING_OPEN, &reply, &fd);
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL,
			       "cannot fetch the file %s of the JVM: %s; try again",
			       staged_file_path(p), strerror(-rc));
	if (fd < 0)
		return err_set(err, EXIT_PARTIAL,
			       "cannot read the file %s of the JVM: %s; try again",
			       staged_file_path(p), reply.data + 1);
	return fd;
}

uint64_t staged_file_written(struct staged_file *p)
{
	_cleanup_buf_ struct buf reply = BUF_INIT;
	_cleanup_close_ int fd = -1;

	if (ask(p, STAGING_WRITTEN, &reply, &fd) < 0 || reply.data[0] != STAGING_SIZE)
		return 0;
	return strtoull(reply.data + 1, NULL, 10);
}

void staged_file_discard(struct staged_file *p)
{
	static const char command = STAGING_DISCARD;

	/* Ignore a failure: the helper was killed, so nobody can remove the file now. */
	if (io_write_all(p->control, &command, 1, deadline_in_ms(p->timeout_ms)) < 0)
		return;
}

void staged_file_free(struct staged_file *p)
{
	int status;

	if (!p)
		return;
	util_close_p(&p->control);
	/*
	 * p->report becomes readable when the helper has removed the file and ends.  Do not call
	 * child_wait() before that, because it kills a helper that does not end in time.  A helper
	 * that is blocked by a file system must live, to remove the file when it continues.
	 */
	if (p->helper > 0 && io_wait(p->report, POLLIN, deadline_in_ms(p->timeout_ms)) == 0 &&
	    child_wait(p->helper, &status, deadline_in_ms(p->timeout_ms)) < 0)
		p->helper = -1; /* child_wait() has killed it; do not wait again */
	util_close_p(&p->report);
	util_close_p(&p->fd);
	buf_release(&p->paths);
	free(p);
}
