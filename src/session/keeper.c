#include "session/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>

#include "base/aside.h"
#include "base/io.h"
#include "proc/inroot.h"
#include "session/nest.h"
#include "target/attachproto.h"

#define BACKLOG 4
#define REPORT_MS 10000

struct keeper {
	const struct place_request *req;
	const struct where *where;
	int root_fd, report, control, listener;
	struct nest nest;
	struct buf file, socket; /* paths as the target sees them */
	struct buf why;          /* each directory that was refused, and why */
};

static void report(const struct keeper *k, char kind, const struct buf *a, const struct buf *b)
{
	_cleanup_buf_ struct buf message = BUF_INIT;
	uint32_t len = (uint32_t)(1 + a->len + 1 + (b ? b->len + 1 : 0));

	buf_add(&message, &len, sizeof(len));
	buf_addc(&message, kind);
	buf_add(&message, buf_str(a), a->len + 1);
	if (b)
		buf_add(&message, buf_str(b), b->len + 1);
	/* A parent that is gone is seen at the control pipe. */
	if (io_write_all(k->report, message.data, message.len, deadline_in_ms(REPORT_MS)) < 0)
		return;
}

/* A directory that cannot serve whatever is in it, or NULL. */
static const char *unfit(int dir_fd)
{
	struct statvfs fs;

	if (fstatvfs(dir_fd, &fs) < 0)
		return strerror(errno);
	if (fs.f_flag & ST_RDONLY)
		return "mounted read-only";
	if (fs.f_flag & ST_NOEXEC)
		return "mounted noexec";
	return NULL;
}

static const char *set_paths(struct keeper *k, const char *dir)
{
	const char *slash = strcmp(dir, "/") == 0 ? "" : "/";

	buf_reset(&k->file);
	buf_reset(&k->socket);
	buf_addf(&k->file, "%s%s%s/%s", dir, slash, k->nest.name, k->nest.file);
	buf_addf(&k->socket, "%s%s%s/%s", dir, slash, k->nest.name, k->nest.socket);
	if (k->listener >= 0 && k->socket.len >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return "its path is too long for a socket";
	if (k->file.len > ATTACH_V1_ARG_MAX)
		return "its path is too long for the attach protocol";
	return NULL;
}

static const char *put_socket(struct keeper *k)
{
	int rc;

	if (k->listener < 0)
		return NULL;
	rc = ns_bind(k->listener, k->nest.dir_fd, k->nest.socket);
	if (rc < 0)
		return strerror(-rc);
	/* Listening here gives the socket the target's own credentials in its peer's eyes. */
	if (listen(k->listener, BACKLOG) < 0)
		return strerror(errno);
	return NULL;
}

/* Settle in one directory; NULL when done, else why not. */
static const char *settle_in(struct keeper *k, const char *dir)
{
	const char *why;
	int fd = inroot_open(k->root_fd, dir, O_PATH | O_DIRECTORY);

	if (fd < 0)
		return strerror(-fd);
	k->nest.parent_fd = fd;
	why = unfit(fd);
	if (!why)
		why = set_paths(k, dir);
	if (!why)
		why = nest_enter(&k->nest);
	if (!why)
		why = nest_put_file(&k->nest, k->req->data, k->req->len);
	if (!why)
		why = put_socket(k);
	if (why)
		nest_leave(&k->nest, true);
	return why;
}

static int settle(struct keeper *k)
{
	for (size_t i = 0; i < k->where->n; i++) {
		const char *why = settle_in(k, k->where->dirs[i]);

		if (!why)
			return 0;
		buf_addf(&k->why, "%s%s: %s", k->why.len ? "; " : "", k->where->dirs[i], why);
	}
	return -1;
}

/* Until jtool is done or dead.  True when the file is not to be kept. */
static bool wait_for_the_end(const struct keeper *k)
{
	bool discard = !k->req->keep;
	char word;

	while (io_read(k->control, &word, 1) > 0) {
		if (word == KEEPER_DISCARD)
			discard = true;
	}
	return discard;
}

static void _noreturn_ give_up(const struct keeper *k, char kind)
{
	report(k, kind, &k->why, NULL);
	_exit(1);
}

static void _noreturn_ run(const struct keeper_job *job)
{
	struct keeper k = {
		.req = job->req,
		.where = job->where,
		.root_fd = job->ns->root_fd,
		.report = job->report,
		.control = job->control,
		.listener = job->req->listener,
	};
	int rc = ns_become(job->ns);

	(void)prctl(PR_SET_NAME, "jtool-keeper");
	(void)umask(077);
	if (rc < 0) {
		buf_adds(&k.why, strerror(-rc));
		give_up(&k, 'u');
	}
	nest_init(&k.nest, job->where->uid, job->ns->jvm->nspid, job->file_name);
	if (!job->req->keep)
		k.nest.stem = job->req->stem;
	if (settle(&k) < 0)
		give_up(&k, 'd');
	report(&k, 'k', &k.file, &k.socket);
	/* jtool's copy is to be the only one: when it ends, who connects is refused. */
	util_close_p(&k.listener);
	nest_leave(&k.nest, wait_for_the_end(&k));
	_exit(0);
}

pid_t keeper_start(const struct keeper_job *job)
{
	/* Anything else, a connection or another keeper's pipe, would be held open unseen. */
	const int keep[] = { job->report, job->control, job->req->listener, job->ns->root_fd,
			     job->ns->proc.fd };
	pid_t pid = aside_fork(keep, ARRAY_SIZE(keep));

	if (pid == 0)
		run(job);
	return pid;
}
