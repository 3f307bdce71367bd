#include "session/place.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "session/keeper.h"

#define SETTLE_MS 10000 /* file systems can be slow, or never answer */
#define LEAVE_MS 10000

struct place {
	pid_t keeper;
	int control, report; /* our ends of its pipes */
	struct buf paths;    /* file, NUL, socket */
};

/* One report, without its length; -EBADMSG when the keeper died instead. */
static int read_report(int fd, struct buf *out)
{
	struct deadline deadline = deadline_in_ms(SETTLE_MS);
	uint32_t len;
	int rc = io_read_exact(fd, &len, sizeof(len), deadline);

	if (rc == 0 && (len < 2 || len > KEEPER_REPORT_MAX))
		return -EBADMSG;
	if (rc == 0)
		rc = io_read_exact(fd, buf_reserve(out, len), len, deadline);
	if (rc < 0)
		return rc;
	out->len = len;
	return out->data[len - 1] == '\0' ? 0 : -EBADMSG;
}

static int understand(struct place *p, const struct jvm *jvm, struct err *err)
{
	_cleanup_buf_ struct buf report = BUF_INIT;
	int rc = read_report(p->report, &report);

	if (rc < 0)
		return err_set(err, EXIT_AGENT, "the process that places files for JVM %d %s",
			       (int)jvm->pid,
			       rc == -ETIMEDOUT ? "does not come back from its file system"
						: "ended before it was done");
	if (report.data[0] == 'u')
		return err_set(err, EXIT_PERMISSION,
			       "the user id of JVM %d cannot be taken: %s; "
			       "run jtool as that user or as root",
			       (int)jvm->pid, report.data + 1);
	if (report.data[0] != 'k')
		return err_set(err, EXIT_AGENT,
			       "no directory serves that JVM %d can load a file from: %s; "
			       "make one of them writable for it and executable",
			       (int)jvm->pid, report.data + 1);
	if (!memchr(report.data + 1, '\0', report.len - 2))
		return err_set(err, EXIT_AGENT, "the keeper's report makes no sense");
	buf_add(&p->paths, report.data + 1, report.len - 1);
	return 0;
}

static int start(struct place *p, const struct ns *ns, const struct place_request *req,
		 struct err *err)
{
	_cleanup_free_ char *name =
		xasprintf("%s-%016llx%s", req->stem,
			  (unsigned long long)XXH3_64bits(req->data, req->len), req->suffix);
	struct where where;
	int report[2], control[2];

	if (pipe2(report, O_CLOEXEC) < 0)
		return err_set(err, EXIT_AGENT, "no pipe: %s", strerror(errno));
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
	p->keeper = p->report = p->control = -1;
	if (start(p, &ns, req, err) < 0 || understand(p, jvm, err) < 0) {
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
	buf_release(&p->paths);
	free(p);
}
