#include "session/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/un.h>

#include "base/aside.h"
#include "base/io.h"
#include "proc/inroot.h"
#include "session/nest.h"
#include "session/report.h"
#include "target/attachproto.h"

#define BACKLOG 4
#define LINGER_MS 500 /* longer than a thread in the middle of open(2) waits for its turn */
#define LINGER_STEP_MS 10

/* The file systems in memory, as statfs(2) calls them. */
#define TMPFS_TYPE 0x01021994
#define RAMFS_TYPE 0x858458f6

struct keeper {
	const struct place_request *req;
	const struct where *where;
	int root_fd, report, control, listener;
	int fifo; /* the read end; -1: none */
	struct nest nest;
	struct buf file, socket; /* paths as the target sees them */
	struct buf why;          /* each directory that was refused, and why */
};

static void report(const struct keeper *k, char kind, const char *a, const char *b, int fd)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addc(&text, kind);
	buf_add(&text, a, strlen(a) + 1);
	if (b)
		buf_add(&text, b, strlen(b) + 1);
	/* A parent that is gone is seen at the control pipe. */
	if (report_send(k->report, &text, fd) < 0)
		return;
}

/* A file system that tells no size at all is given the benefit of the doubt. */
static bool has_room(const struct statvfs *fs, uint64_t room)
{
	uint64_t free;

	return fs->f_blocks == 0 || __builtin_mul_overflow(fs->f_bavail, fs->f_frsize, &free) ||
	       free >= room;
}

/* A directory that cannot serve whatever is in it, or NULL. */
static const char *unfit(const struct place_request *req, int dir_fd)
{
	struct statvfs fs;

	if (fstatvfs(dir_fd, &fs) < 0)
		return strerror(errno);
	if (fs.f_flag & ST_RDONLY)
		return "mounted read-only";
	if (req->kind == PLACE_FILE && (fs.f_flag & ST_NOEXEC))
		return "mounted noexec";
	if (!has_room(&fs, req->room))
		return "too little room";
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
	/* The JVM is told in a line of words, where quotes nest badly and %p is its pid. */
	if (k->req->kind != PLACE_FILE && strpbrk(dir, "\"'\\%\n"))
		return "its name has quotes, a backslash, '%' or a line end";
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

static const char *put_file(struct keeper *k)
{
	switch (k->req->kind) {
	case PLACE_FIFO:
		return nest_put_fifo(&k->nest, &k->fifo);
	case PLACE_RESULT:
		return NULL; /* nobody else makes files in this directory */
	default:
		return nest_put_file(&k->nest, k->req->data, k->req->len);
	}
}

/* Settle in one directory; NULL when done, else why not. */
static const char *settle_in(struct keeper *k, const char *dir)
{
	const char *why;
	int fd = inroot_open(k->root_fd, dir, O_PATH | O_DIRECTORY);

	if (fd < 0)
		return strerror(-fd);
	k->nest.parent_fd = fd;
	why = unfit(k->req, fd);
	if (!why)
		why = set_paths(k, dir);
	if (!why)
		why = nest_enter(&k->nest);
	if (!why)
		why = put_file(k);
	if (!why)
		why = put_socket(k);
	if (why)
		nest_leave(&k->nest, true);
	return why;
}

static bool is_in_memory(const struct keeper *k, const char *dir)
{
	_cleanup_close_ int fd = inroot_open(k->root_fd, dir, O_PATH | O_DIRECTORY);
	struct statfs fs;

	/* The field's width and sign differ from machine to machine. */
	return fd >= 0 && fstatfs(fd, &fs) == 0 &&
	       ((uint32_t)fs.f_type == TMPFS_TYPE || (uint32_t)fs.f_type == RAMFS_TYPE);
}

/* The candidates in the order in which they are tried. */
static size_t in_order(const struct keeper *k, const char *dirs[WHERE_MAX])
{
	bool disk_first = k->req->kind == PLACE_RESULT || k->req->room > 0;
	bool memory[WHERE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < k->where->n; i++) {
		memory[i] = disk_first && is_in_memory(k, k->where->dirs[i]);
		if (!memory[i])
			dirs[n++] = k->where->dirs[i];
	}
	for (size_t i = 0; i < k->where->n; i++) {
		if (memory[i])
			dirs[n++] = k->where->dirs[i];
	}
	return n;
}

static int settle(struct keeper *k)
{
	const char *dirs[WHERE_MAX];
	size_t n = in_order(k, dirs);

	for (size_t i = 0; i < n; i++) {
		const char *why = settle_in(k, dirs[i]);

		if (!why)
			return 0;
		buf_addf(&k->why, "%s%s: %s", k->why.len ? "; " : "", dirs[i], why);
	}
	return -1;
}

static void open_result(const struct keeper *k)
{
	_cleanup_close_ int fd = nest_open_file(&k->nest);

	if (fd >= 0)
		report(k, KEEPER_OPENED, "", NULL, fd);
	else
		report(k, KEEPER_NO_RESULT,
		       fd == -ENOTUNIQ ? "it is no regular file of the JVM's user" : strerror(-fd),
		       NULL, -1);
}

/* Until jtool is done or dead.  True when the file is not to be kept. */
static bool wait_for_the_end(const struct keeper *k)
{
	bool discard = !k->req->keep;
	char word;

	while (io_read(k->control, &word, 1) > 0) {
		if (word == KEEPER_DISCARD)
			discard = true;
		if (word == KEEPER_OPEN)
			open_result(k);
	}
	return discard;
}

/* Did the JVM come?  It is there when a read would wait for it, and was there at a hang-up. */
static bool had_writer(int fifo)
{
	struct pollfd pfd = { .fd = fifo, .events = POLLIN };
	char byte;

	return poll(&pfd, 1, 0) > 0 || io_read(fifo, &byte, 1) != 0;
}

/*
 * A JVM that opens a FIFO without a reader stops there for ever, at a safepoint; one that writes
 * to it when the reader is gone gets EPIPE and goes on.  So the keeper holds the read end for as
 * long as the FIFO has a name, whatever jtool does with its own copy, and closes it soon after.
 * That is after the end of `control` only: a jtool that stops reading must free the place, else
 * the JVM waits at a full pipe.
 *
 * Called when the name is gone: whoever looks for it from now on is told ENOENT.  But a JVM that
 * found it just before may be in the middle of open(2), so the end stays open for a moment,
 * unless the JVM is already here.
 */
static void close_fifo(struct keeper *k)
{
	struct deadline deadline = deadline_in_ms(LINGER_MS);

	if (k->fifo < 0)
		return;
	while (!had_writer(k->fifo) && !deadline_passed(deadline))
		(void)poll(NULL, 0, LINGER_STEP_MS); /* a pipe does not tell who opens it */
	util_close_p(&k->fifo);
}

static void _noreturn_ give_up(const struct keeper *k, char kind)
{
	report(k, kind, buf_str(&k->why), NULL, -1);
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
		.fifo = -1,
	};
	int rc = ns_become(job->ns);

	(void)prctl(PR_SET_NAME, "jtool-keeper");
	(void)umask(077);
	if (rc < 0) {
		buf_adds(&k.why, strerror(-rc));
		give_up(&k, KEEPER_NO_USER);
	}
	nest_init(&k.nest, job->where->uid, job->ns->jvm->nspid, job->file_name,
		  job->req->kind != PLACE_FILE);
	if (!job->req->keep)
		k.nest.stem = job->req->stem;
	if (settle(&k) < 0)
		give_up(&k, KEEPER_NO_PLACE);
	report(&k, KEEPER_PLACED, buf_str(&k.file), buf_str(&k.socket), k.fifo);
	/* jtool's copy is to be the only one: when it ends, who connects is refused. */
	util_close_p(&k.listener);
	nest_leave(&k.nest, wait_for_the_end(&k));
	close_fifo(&k);
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
