#include "session/place.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "session/keeper.h"
#include "session/report.h"

#define SETTLE_MS 10000 /* file systems can be slow, or never answer */
#define LEAVE_MS 10000

struct place {
	pid_t keeper;
	int control, report; /* our ends of what leads to it */
	int fd;              /* a FIFO's read end until it is taken; else -1 */
	struct buf paths;    /* file, NUL, socket */
};

/* What differs by the kind of place. */
static const struct {
	enum exit_code code;
	const char *use;
} kinds[] = {
	[PLACE_FILE] = { EXIT_AGENT, "load a file from" },
	[PLACE_FIFO] = { EXIT_PARTIAL, "write to a pipe in" },
	[PLACE_RESULT] = { EXIT_PARTIAL, "write a file to" },
};

static int no_place(const struct jvm *jvm, const struct place_request *req, const char *why,
		    struct err *err)
{
	_cleanup_free_ char *room = NULL;

	if (req->room > 0)
		room = xasprintf(", with %llu MB free",
				 (unsigned long long)(req->room / (1 << 20) + 1));
	return err_set(err, kinds[req->kind].code,
		       "no directory serves that JVM %d can %s: %s; make one of them writable for "
		       "it%s%s",
		       (int)jvm->pid, kinds[req->kind].use, why,
		       req->kind == PLACE_FILE ? " and executable" : "", room ? room : "");
}

static int understand(struct place *p, const struct jvm *jvm, const struct place_request *req,
		      struct err *err)
{
	_cleanup_buf_ struct buf report = BUF_INIT;
	int rc = report_receive(p->report, &report, &p->fd, deadline_in_ms(SETTLE_MS));

	if (rc < 0)
		return err_set(err, kinds[req->kind].code,
			       "the process that places files for JVM %d %s", (int)jvm->pid,
			       rc == -ETIMEDOUT ? "does not come back from its file system"
						: "ended before it was done");
	if (report.data[0] == KEEPER_NO_USER)
		return err_set(err, EXIT_PERMISSION,
			       "the user id of JVM %d cannot be taken: %s; "
			       "run jtool as that user or as root",
			       (int)jvm->pid, report.data + 1);
	if (report.data[0] != KEEPER_PLACED)
		return no_place(jvm, req, report.data + 1, err);
	if (!memchr(report.data + 1, '\0', report.len - 2))
		return err_set(err, kinds[req->kind].code, "the keeper's report makes no sense");
	buf_add(&p->paths, report.data + 1, report.len - 1);
	return 0;
}

/* The linker knows a file by its name; the rest is found by nobody but the target. */
char *place_file_name(const struct place_request *req)
{
	if (req->kind != PLACE_FILE)
		return xasprintf(".%s%s", req->stem, req->suffix);
	return xasprintf("%s-%016llx%s", req->stem,
			 (unsigned long long)XXH3_64bits(req->data, req->len), req->suffix);
}

static int start(struct place *p, const struct ns *ns, const struct place_request *req,
		 struct err *err)
{
	_cleanup_free_ char *name = place_file_name(req);
	struct where where;
	int report[2], control[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) < 0)
		return err_set(err, EXIT_AGENT, "no socket: %s", strerror(errno));
	p->report = report[0];
	if (pipe2(control, O_CLOEXEC) < 0) {
		(void)close(report[1]);
		return err_set(err, EXIT_AGENT, "no pipe: %s", strerror(errno));
	}
	p->control = control[1];
	where_find(ns, &where);
	p->keeper = keeper_start(
		&(struct keeper_job){ ns, &where, req, name, report[1], control[0] });
	where_release(&where);
	(void)close(report[1]);
	(void)close(control[0]);
	if (p->keeper < 0)
		return err_set(err, EXIT_AGENT, "no process can be started: %s",
			       strerror(-p->keeper));
	return 0;
}

struct place *place_new(const struct jvm *jvm, const struct place_request *req,
			const struct steps *steps, struct err *err)
{
	struct place *p;
	struct ns ns;

	if (ns_open(jvm, &ns, err) < 0)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->keeper = p->report = p->control = p->fd = -1;
	if (start(p, &ns, req, err) < 0 || understand(p, jvm, req, err) < 0) {
		ns_close(&ns);
		place_free(p);
		return NULL;
	}
	ns_close(&ns);
	steps_add(steps, "placed %s", place_file(p));
	return p;
}

const char *place_file(const struct place *p)
{
	return buf_str(&p->paths);
}

const char *place_socket(const struct place *p)
{
	return p->paths.data + strlen(p->paths.data) + 1;
}

int place_open(struct place *p, struct err *err)
{
	static const char word = KEEPER_OPEN;
	const struct deadline deadline = deadline_in_ms(SETTLE_MS);
	_cleanup_buf_ struct buf report = BUF_INIT;
	int rc, fd = -1;

	if (p->fd >= 0)
		return TAKE_FD(p->fd);
	rc = io_write_all(p->control, &word, 1, deadline);
	if (rc == 0)
		rc = report_receive(p->report, &report, &fd, deadline);
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL, "what the JVM wrote to %s cannot be had: %s",
			       place_file(p), strerror(-rc));
	if (fd < 0)
		return err_set(err, EXIT_PARTIAL, "what the JVM wrote to %s cannot be read: %s",
			       place_file(p), report.data + 1);
	return fd;
}

void place_discard(struct place *p)
{
	static const char word = KEEPER_DISCARD;

	/* A keeper that is gone has nothing left to discard. */
	if (io_write_all(p->control, &word, 1, deadline_in_ms(LEAVE_MS)) < 0)
		return;
}

void place_free(struct place *p)
{
	if (!p)
		return;
	util_close_p(&p->control);
	/* The end of its report is its own end.  One that hangs is left to finish alone. */
	if (p->keeper > 0 && io_wait(p->report, POLLIN, deadline_in_ms(LEAVE_MS)) == 0) {
		while (waitpid(p->keeper, NULL, 0) < 0 && errno == EINTR)
			;
	}
	util_close_p(&p->report);
	util_close_p(&p->fd);
	buf_release(&p->paths);
	free(p);
}
