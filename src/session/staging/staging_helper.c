#include "session/staging/staging_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>

#include "fileio/detached_child.h"
#include "fileio/disk_room.h"
#include "fileio/file_open.h"
#include "base/xalloc.h"
#include "fileio/io.h"
#include "proc/inroot.h"
#include "session/staging/staging_dir.h"
#include "session/staging/helper_msg.h"
#include "sandbox/sandbox.h"
#include "attach/protocol.h"

#define BACKLOG 4
/*
 * Maximum wait of close_fifo() in ms.  If a thread of the JVM is in open(2) and has found the name
 * of the FIFO, its open(2) ends within this time.
 */
#define LINGER_MS 500
#define STEP_MS 10 /* between two looks at what reports no event */
/* Limits in ms for the wait for a target that merges files: in total, and without progress. */
#define MERGE_MS 3600000
#define MERGE_STALL_MS 10000

struct helper {
	const struct staged_file_request *req;
	struct target_ns ns;
	struct staging_paths paths;
	uint64_t memory; /* see struct staging_helper_job */
	int root_fd, report, control, listener;
	int fifo; /* read end of a FIFO; -1: none */
	struct staging_dir sdir;
	struct buf file, socket; /* paths in the target's root */
	struct buf why;          /* the unusable directories, each with the reason */
	bool exposed; /* another user could replace the private directory */
};

static void report(const struct helper *h, char kind, const char *a, const char *b, int fd)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addc(&text, kind);
	buf_add(&text, a, strlen(a) + 1);
	if (b)
		buf_add(&text, b, strlen(b) + 1);
	/* Ignore a failure: the parent has ended, and reading `control` reports that. */
	if (helper_msg_send(h->report, &text, fd) < 0)
		return;
}

/* Returns true if the file system has `room` bytes free, or does not report its size. */
static bool has_room(const struct statvfs *fs, uint64_t room)
{
	uint64_t free;

	return fs->f_blocks == 0 || __builtin_mul_overflow(fs->f_bavail, fs->f_frsize, &free) ||
	       free >= room;
}

/* Returns why the file system of a directory is unusable for the request, or NULL. */
static const char *why_unusable(const struct staged_file_request *req, uint64_t memory, int dir_fd)
{
	struct statvfs fs;

	if (fstatvfs(dir_fd, &fs) < 0)
		return strerror(errno);
	if (fs.f_flag & ST_RDONLY)
		return "mounted read-only";
	if (req->kind == STAGED_FILE && !req->is_data && (fs.f_flag & ST_NOEXEC))
		return "mounted noexec";
	if (!has_room(&fs, req->room))
		return "not enough space";
	if (req->room > memory && disk_room_is_memory(dir_fd))
		return "in memory, and the JVM's control group has too little left";
	return NULL;
}

static bool is_written_by_target(const struct staged_file_request *req)
{
	return req->kind == STAGED_FIFO || req->kind == STAGED_RESULT;
}

static const char *set_paths(struct helper *h, const char *dir)
{
	const char *slash = strcmp(dir, "/") == 0 ? "" : "/";

	buf_reset(&h->file);
	buf_reset(&h->socket);
	buf_addf(&h->file, "%s%s%s/%s", dir, slash, h->sdir.name, h->sdir.file);
	buf_addf(&h->socket, "%s%s%s/%s", dir, slash, h->sdir.name, h->sdir.socket);
	if (h->listener >= 0 && h->socket.len >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return "its path is too long for a socket";
	/*
	 * The path is part of a diagnostic command.  Quotes cannot be nested in such a command, and
	 * HotSpot replaces %p in the path by the pid.
	 */
	if (is_written_by_target(h->req) && strpbrk(dir, "\"'\\%\n"))
		return "its name has quotes, a backslash, '%' or a line end";
	if (h->file.len > ATTACH_V1_ARG_MAX)
		return "its path is too long for the attach protocol";
	return NULL;
}

static const char *put_socket(struct helper *h)
{
	int rc;

	if (h->listener < 0)
		return NULL;
	rc = target_ns_bind(h->listener, h->sdir.dir_fd, h->sdir.socket);
	if (rc < 0)
		return strerror(-rc);
	/*
	 * The peer sees the credentials of the process that calls listen(2).  So the helper, which
	 * has the target's ids, makes this call.
	 */
	if (listen(h->listener, BACKLOG) < 0)
		return strerror(errno);
	return NULL;
}

static const char *put_file(struct helper *h)
{
	switch (h->req->kind) {
	case STAGED_FIFO:
		return staging_dir_put_fifo(&h->sdir, &h->fifo);
	case STAGED_RESULT: /* the target creates the file itself */
	case STAGED_SOCKET:
		return NULL;
	default:
		return staging_dir_put_file(&h->sdir, h->req->data, h->req->len);
	}
}

/*
 * Returns true if the path of the private directory, as the target resolves it, leads to the
 * directory that this helper has locked.
 */
static bool is_in_place(const struct helper *h)
{
	_cleanup_free_ char *path = xstrndup(buf_str(&h->file), h->file.len - strlen(h->sdir.file));
	_cleanup_close_ int fd = inroot_open(h->root_fd, path, O_DIRECTORY);
	struct stat there, here;

	return fd >= 0 && fstat(fd, &there) == 0 && fstat(h->sdir.dir_fd, &here) == 0 &&
	       file_is_same(&there, &here);
}

/*
 * Creates the file and the socket in the directory `dir` of the target.  Returns NULL, or why that
 * failed.
 */
static const char *try_dir(struct helper *h, const char *dir)
{
	const char *why;
	int fd = inroot_open(h->root_fd, dir, O_DIRECTORY);

	if (fd < 0)
		return strerror(-fd);
	h->sdir.parent_fd = fd;
	why = why_unusable(h->req, h->memory, fd);
	if (!why)
		why = set_paths(h, dir);
	if (!why)
		why = staging_dir_enter(&h->sdir);
	if (!why)
		why = put_file(h);
	if (!why)
		why = put_socket(h);
	if (!why && !is_in_place(h))
		why = "another process has replaced the private directory";
	if (why)
		staging_dir_leave(&h->sdir, true);
	return why;
}

/*
 * Tries directories in the order of staging_paths_sort().  If the kind is STAGED_RESULT or `room`
 * is not 0, directories on disks come before directories in memory; or, if `memory_first` is set,
 * after them.
 */
static int choose_dir(struct helper *h)
{
	struct staging_paths *w = &h->paths;

	staging_paths_sort(w, h->root_fd, h->req->kind == STAGED_RESULT || h->req->room > 0,
			   h->req->memory_first);
	for (size_t i = 0; i < w->n; i++) {
		const char *why = try_dir(h, w->dirs[i]);

		h->exposed = w->exposed[i];
		if (!why)
			return 0;
		buf_addf(&h->why, "%s%s: %s", h->why.len ? "; " : "", w->dirs[i], why);
	}
	return -1;
}

static void open_result(const struct helper *h)
{
	_cleanup_close_ int fd = staging_dir_open_file(&h->sdir);

	if (fd >= 0)
		report(h, STAGING_OPENED, "", NULL, fd);
	else
		report(h, STAGING_NO_RESULT,
		       fd == -ENOTUNIQ ? "not a regular file of the JVM's user" : strerror(-fd),
		       NULL, -1);
}

static void report_size(const struct helper *h)
{
	_cleanup_free_ char *size = xasprintf("%llu",
					      (unsigned long long)staging_dir_bytes(&h->sdir));

	report(h, STAGING_SIZE, size, NULL, -1);
}

static void report_place(const struct helper *h)
{
	report(h, is_in_place(h) ? STAGING_IN_PLACE : STAGING_REPLACED, "", NULL, -1);
}

/*
 * Serves the parent's commands until the parent closes the pipe.  Returns true if the file is to be
 * removed: without req->keep, or after STAGING_DISCARD.
 */
static bool serve_commands(const struct helper *h)
{
	bool discard = !h->req->keep;
	char command;

	while (io_read(h->control, &command, 1) > 0) {
		if (command == STAGING_DISCARD)
			discard = true;
		if (command == STAGING_OPEN)
			open_result(h);
		if (command == STAGING_WRITTEN)
			report_size(h);
		if (command == STAGING_CONFIRM)
			report_place(h);
	}
	return discard;
}

/*
 * Returns true if the FIFO has a writer (read(2) would block) or has had one (poll(2) reports a
 * hang-up).
 */
static bool had_writer(int fifo)
{
	struct pollfd pfd = { .fd = fifo, .events = POLLIN };
	char byte;

	return poll(&pfd, 1, 0) > 0 || io_read(fifo, &byte, 1) != 0;
}

/* Waits at most LINGER_MS until the FIFO has or has had a writer.  Returns true if it has. */
static bool wait_for_writer(int fifo)
{
	struct deadline deadline = deadline_in_ms(LINGER_MS);

	while (!had_writer(fifo)) {
		if (deadline_passed(deadline))
			return false;
		/* Poll, because no event reports that an open(2) is pending. */
		(void)poll(NULL, 0, STEP_MS);
	}
	return true;
}

/* Reads and discards what the target writes to the FIFO, until the target closes it. */
static void drain_fifo(int fifo)
{
	struct deadline deadline = deadline_in_ms(MERGE_MS);
	char data[4096];
	ssize_t n = -EAGAIN;

	if (!wait_for_writer(fifo))
		return;
	while (n > 0 || n == -EAGAIN) {
		if (io_wait(fifo, POLLIN, deadline) < 0)
			return;
		n = io_read(fifo, data, sizeof(data));
	}
}

/* Waits until the target has removed the files that it merges, or makes no progress. */
static void wait_for_merge(const struct staging_dir *sd)
{
	struct deadline end = deadline_in_ms(MERGE_MS), stall = deadline_in_ms(MERGE_STALL_MS);
	uint64_t bytes = 0;

	while (staging_dir_is_merged_into(sd) && !deadline_passed(end) && !deadline_passed(stall)) {
		uint64_t now = staging_dir_bytes(sd);

		if (now != bytes)
			stall = deadline_in_ms(MERGE_STALL_MS);
		bytes = now;
		(void)poll(NULL, 0, STEP_MS);
	}
}

/*
 * Waits until the target has written the file, if the target merges other files into it.  If jtool
 * was killed, the target may still write.
 */
static void wait_for_target(const struct helper *h)
{
	if (h->req->merges && h->fifo >= 0)
		drain_fifo(h->fifo);
	else if (h->req->merges)
		wait_for_merge(&h->sdir);
}

/*
 * Closes the helper's read end of the FIFO.
 *
 * A JVM that opens a FIFO without a reader blocks forever at a safepoint.  So the helper has the
 * FIFO open for reading as long as the FIFO has a name, even if jtool has closed its own read end.
 * If jtool stops reading, the JVM's write blocks when the FIFO is full.  When jtool then frees the
 * staged file, `control` is closed, the helper calls this function, and the write fails with EPIPE.
 *
 * Called after the name was removed, so that open(2) returns ENOENT from now on.  A JVM that found
 * the name before the removal may still be in open(2).  So if the FIFO has had no writer, waits for
 * one for up to LINGER_MS before it closes the read end.
 */
static void close_fifo(struct helper *h)
{
	if (h->fifo < 0)
		return;
	(void)wait_for_writer(h->fifo);
	util_close_p(&h->fifo);
}

static void _noreturn_ fail(const struct helper *h, char kind)
{
	report(h, kind, buf_str(&h->why), NULL, -1);
	_exit(1);
}

/*
 * Opens the target's root and working directory, and lists the directories in which the file may be
 * created.  Called with jtool's own rights, before the helper takes the target's ids.
 */
static void find_paths(struct helper *h, const struct jvm *jvm)
{
	struct err err = { .code = EXIT_DONE };

	if (target_ns_open(jvm, &h->ns, &err) < 0) {
		buf_addf(&h->why, "%d%s", (int)err.code, err.text);
		fail(h, STAGING_FAILED);
	}
	h->root_fd = h->ns.root_fd;
	if (h->req->kind == STAGED_SOCKET)
		staging_paths_find_attach(&h->ns, &h->paths);
	else
		staging_paths_find(&h->ns, &h->paths);
}

static void _noreturn_ run(const struct staging_helper_job *job)
{
	struct helper h = {
		.req = job->req,
		.memory = job->memory,
		.root_fd = -1,
		.report = job->report,
		.control = job->control,
		.listener = job->req->listener,
		.fifo = -1,
	};
	bool discard;
	int rc;

	(void)prctl(PR_SET_NAME, "jtool-helper");
	(void)umask(077);
	find_paths(&h, job->jvm);
	rc = target_ns_become(&h.ns);
	if (rc < 0) {
		buf_adds(&h.why, strerror(-rc));
		fail(&h, STAGING_NO_USER);
	}
	/* If the kernel has no sandbox, only the target's ids and capabilities limit the helper. */
	(void)!sandbox_enter(SANDBOX_STAGING);
	staging_dir_init(&h.sdir, h.paths.uid, job->jvm->nspid, job->file_name,
			 job->req->socket, is_written_by_target(job->req));
	if (choose_dir(&h) < 0)
		fail(&h, STAGING_NO_DIR);
	report(&h, h.exposed ? STAGING_EXPOSED : STAGING_READY, buf_str(&h.file),
	       buf_str(&h.socket), h.fifo);
	/*
	 * Close this copy of the listener, so that connections are refused after jtool has closed
	 * its own copy.
	 */
	util_close_p(&h.listener);
	discard = serve_commands(&h);
	wait_for_target(&h);
	staging_dir_leave(&h.sdir, discard);
	close_fifo(&h);
	_exit(0);
}

pid_t staging_helper_start(const struct staging_helper_job *job)
{
	/*
	 * Close all other descriptors in the child.  If it held a connection or another helper's
	 * pipe open, the peer would not see the end of file.
	 */
	const int keep[] = { job->report, job->control, job->req->listener };
	pid_t pid = detached_child_fork(keep, ARRAY_SIZE(keep));

	if (pid == 0)
		run(job);
	return pid;
}
