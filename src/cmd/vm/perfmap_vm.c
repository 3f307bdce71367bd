/*
 * perfmap with the diagnostic command Compiler.perfmap: the JVM writes the map to a file.
 * - JDK 22 and later accept the name of the file as an argument.  jtool passes the name of a staged
 *   file.
 * - JDK 17 to 21 always write to /tmp/perf-PID.map in the JVM's root directory, where PID is the
 *   JVM's pid as the JVM sees it.  jtool copies this file, and removes it unless it existed before.
 *   If jtool fails or is killed, a child process removes it.
 */
#include "cmd/vm/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/target_query.h"
#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "cmd/fetch.h"
#include "fileio/detached_child.h"
#include "fileio/file_open.h"
#include "fileio/io.h"

#define FILENAME_SINCE 22
#define ANSWER_MAX (64u << 10)
#define NS_PER_S 1000000000
#define REAP_STEP_MS 50

/*
 * Runs the diagnostic command Compiler.perfmap with `argument`.  Returns 0 even if the JVM has
 * failed to write the map, because the JVM's answer is empty whether it has failed or not.
 */
static int ask(const struct ctx *ctx, const char *argument, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT, text = BUF_INIT;

	buf_addf(&line, "Compiler.perfmap%s", argument);
	return attach_call_jcmd(ctx, buf_str(&line), ANSWER_MAX, &text, err);
}

static int not_written(const struct ctx *ctx, const char *path, struct err *err)
{
	return err_set(err, EXIT_ANSWER,
		       "JVM %d did not write %s: its disk is full, or the file belongs to another "
		       "user; free space, or remove the file", (int)ctx->jvm->pid, path);
}

/*
 * Sets the error for a map that does not end in a line break.  Such a map was cut off: the JVM does
 * not report failed writes.
 */
static int cut_off(const struct ctx *ctx, const char *path, struct err *err)
{
	return err_set(err, EXIT_ANSWER,
		       "JVM %d wrote only a part of %s: its disk is full; free space there, or use "
		       "--engine agent", (int)ctx->jvm->pid, path);
}

/* The map that the JVM has written to a staged file. */
struct written {
	const struct ctx *ctx;
	const char *path;
};

static int check_map(void *arg, int fd, uint64_t size, struct err *err)
{
	const struct written *w = arg;
	char last;

	if (size > PERFMAP_MAX)
		return err_set(err, EXIT_PARTIAL,
			       "the map of %llu bytes is larger than %u MB: the JVM did not write "
			       "it; look for the process that did", (unsigned long long)size,
			       PERFMAP_MAX >> 20);
	if (size == 0)
		return not_written(w->ctx, w->path, err);
	if (pread(fd, &last, 1, (off_t)size - 1) == 1 && last != '\n')
		return cut_off(w->ctx, w->path, err);
	return 0;
}

static int write_staged(const struct ctx *ctx, struct atomic_file *out, struct err *err)
{
	const struct staged_file_request req = {
		.kind = STAGED_RESULT,
		.stem = "perf",
		.suffix = ".map",
		.listener = -1,
		.room = 16u << 20,
		.timeout_ms = ctx->timeout_ms,
	};
	struct staged_file *staged = staged_file_new(ctx->jvm, &req, ctx->steps, err);
	struct written written = { .ctx = ctx };
	const struct fetch_check check = { check_map, &written };
	_cleanup_buf_ struct buf argument = BUF_INIT;
	uint64_t size = 0;
	int rc;

	if (!staged)
		return -1;
	written.path = staged_file_path(staged);
	buf_addf(&argument, " \"%s\"", written.path);
	rc = staged_file_confirm(staged, err);
	if (rc == 0)
		rc = ask(ctx, buf_str(&argument), err);
	if (rc == 0)
		rc = fetch_result(staged, out, &check, &size, err);
	staged_file_free(staged);
	return rc;
}

/* The JVM's /tmp/perf-PID.map, in the root directory of the JVM. */
struct own_map {
	int dir_fd; /* descriptor of /tmp; or a negative errno */
	int fd;     /* descriptor of the file; or -ENOENT: none exists; or another negative errno */
	char name[32];
	struct stat st; /* of the file */
};

static void close_own(struct own_map *map)
{
	util_close_p(&map->fd);
	util_close_p(&map->dir_fd);
}
#define _cleanup_own_ _cleanup_(close_own)

/* Opens the JVM's map if it is a regular file of the JVM's user. */
static void open_own(struct own_map *map, const struct target_ns *ns)
{
	*map = (struct own_map){ .dir_fd = target_ns_opendir(ns, "/tmp"), .fd = -1 };
	(void)snprintf(map->name, sizeof(map->name), "perf-%d.map", (int)ns->jvm->nspid);
	if (map->dir_fd < 0) {
		map->fd = map->dir_fd;
		return;
	}
	map->fd = file_open_regular(map->dir_fd, map->name, O_NOFOLLOW, &map->st);
	if (map->fd >= 0 && map->st.st_uid != ns->jvm->uid) {
		util_close_p(&map->fd);
		map->fd = -EPERM;
	}
}

/* Returns the time of the last write to the file in ns since 1970; 0: there is no such file. */
static uint64_t written_ns(const struct own_map *map)
{
	if (map->fd < 0)
		return 0;
	return (uint64_t)map->st.st_mtim.tv_sec * NS_PER_S + (uint64_t)map->st.st_mtim.tv_nsec;
}

/*
 * Appends written_ns() of the JVM's map to `answer`.  Returns -1 with err set if the map's path is
 * a symbolic link, because the JVM would follow it; or if the file belongs to another user, because
 * the JVM might overwrite it.
 */
static int answer_time(const struct target_ns *ns, const void *arg, struct buf *answer,
		       struct err *err)
{
	_cleanup_own_ struct own_map map;
	uint64_t time;

	(void)arg;
	open_own(&map, ns);
	if (map.fd < 0 && map.fd != -ENOENT)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d would write /proc/%d/root/tmp/perf-%d.map, which is not a "
			       "file of its user; remove it, or use --engine agent",
			       (int)ns->jvm->pid, (int)ns->jvm->pid, (int)ns->jvm->nspid);
	time = written_ns(&map);
	buf_add(answer, &time, sizeof(time));
	return 0;
}

static int answer_map(const struct target_ns *ns, const void *arg, struct buf *answer,
		      struct err *err)
{
	_cleanup_own_ struct own_map map;
	int rc;

	(void)arg;
	open_own(&map, ns);
	rc = map.fd < 0 ? map.fd : io_slurp(map.fd, answer, PERFMAP_MAX);
	return rc < 0 ? err_set(err, EXIT_PARTIAL,
				"cannot read /proc/%d/root/tmp/perf-%d.map: %s; try again",
				(int)ns->jvm->pid, (int)ns->jvm->nspid, strerror(-rc))
		      : 0;
}

/*
 * Removes the JVM's map if its last write was at the time *arg.  If the map was written later,
 * another command has requested it, and still needs it.
 */
static int remove_own(const struct target_ns *ns, const void *arg, struct buf *answer,
		      struct err *err)
{
	_cleanup_own_ struct own_map map;
	const uint64_t *written = arg;
	int rc;

	(void)answer;
	open_own(&map, ns);
	if (written_ns(&map) != *written)
		return 0;
	rc = target_ns_unlink(ns, map.dir_fd, map.name, &map.st);
	if (rc == 0 || rc == -ENOENT || rc == -ESTALE)
		return 0;
	return err_set(err, EXIT_PARTIAL,
		       "cannot remove /proc/%d/root/tmp/perf-%d.map, which the JVM has written: "
		       "%s; remove it", (int)ns->jvm->pid, (int)ns->jvm->nspid, strerror(-rc));
}

/*
 * Called again and again in the reaper.  Removes the JVM's map if it exists.  Appends a byte to
 * `answer` if the reaper need not look for the map again.
 */
static int reap_own(const struct target_ns *ns, const void *arg, struct buf *answer,
		    struct err *err)
{
	_cleanup_own_ struct own_map map;

	(void)arg;
	(void)err;
	open_own(&map, ns);
	/* -ESTALE: the file was written again after open_own(), so the JVM is still writing. */
	if (map.fd != -ENOENT &&
	    (map.fd < 0 || target_ns_unlink(ns, map.dir_fd, map.name, &map.st) != -ESTALE))
		buf_addc(answer, 1);
	return 0;
}

/* A child process that removes the JVM's map if jtool does not. */
struct reaper {
	pid_t pid;
	int end_fd; /* socket to the child */
};

/*
 * Runs the reaper.  jtool sends a byte when no map remains to be removed.  If jtool closes the
 * socket without the byte, or ends, the reaper waits for the JVM's map and removes it: the JVM
 * executes a request that it has received, even if jtool has ended.
 */
static void _noreturn_ reap(const struct ctx *ctx, int end)
{
	const struct target_query q = { .fn = reap_own, .fd = -1, .max = 1 };
	_cleanup_buf_ struct buf answer = BUF_INIT;
	struct deadline deadline;
	struct err err = { .code = EXIT_DONE };
	char byte = 0;

	if (io_write_all(end, &byte, 1, DEADLINE_NEVER) < 0 || io_read(end, &byte, 1) > 0)
		_exit(0);
	deadline = deadline_in_ms(ctx->timeout_ms);
	while (answer.len == 0 && !deadline_passed(deadline) &&
	       target_query(ctx->jvm, &q, &answer, &err) == 0)
		(void)poll(NULL, 0, REAP_STEP_MS); /* wait before the next look for the file */
	_exit(0);
}

/* Starts the reaper, and waits until signals to jtool's process group cannot end the reaper. */
static int start_reaper(const struct ctx *ctx, struct reaper *r, struct err *err)
{
	int ends[2];
	char byte;

	*r = (struct reaper){ -1, -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_no_descriptor(err, EXIT_PARTIAL, -errno, "a socket");
	r->end_fd = ends[1];
	r->pid = detached_child_fork(&ends[0], 1);
	if (r->pid == 0)
		reap(ctx, ends[0]);
	(void)close(ends[0]);
	if (r->pid > 0 && io_read(r->end_fd, &byte, 1) == 1)
		return 0;
	return err_not_started(err, EXIT_PARTIAL, r->pid < 0 ? r->pid : -ECHILD,
			       "the process that removes the JVM's perf map");
}

/*
 * Ends the reaper.  If `is_over` is false, the reaper goes on in the background: it waits for the
 * JVM's map until the timeout, and removes the map.
 */
static void end_reaper(struct reaper *r, bool is_over)
{
	char byte = 0;

	if (is_over && io_write_all(r->end_fd, &byte, 1, DEADLINE_NEVER) == 0)
		(void)waitpid(r->pid, NULL, 0); /* the exit status is not needed */
	util_close_p(&r->end_fd);
}

/* Returns the path at which jtool's user can open the JVM's map.  The caller frees the path. */
static char *own_path(const struct jvm *jvm)
{
	return xasprintf("/proc/%d/root/tmp/perf-%d.map", (int)jvm->pid, (int)jvm->nspid);
}

static int copy_own(const struct ctx *ctx, struct atomic_file *out, struct err *err)
{
	_cleanup_free_ char *path = own_path(ctx->jvm);
	const struct target_query read = { .fn = answer_map, .fd = -1, .max = PERFMAP_MAX };
	_cleanup_buf_ struct buf map = BUF_INIT;
	int rc;

	if (target_query(ctx->jvm, &read, &map, err) < 0)
		return -1;
	if (map.len == 0)
		return not_written(ctx, path, err);
	if (map.data[map.len - 1] != '\n')
		return cut_off(ctx, path, err);
	rc = io_write_all(out->fd, buf_str(&map), map.len, DEADLINE_NEVER);
	return rc < 0 ? atomic_file_failed(out, rc, err) : 0;
}

static const struct target_query when_own = {
	.fn = answer_time, .fd = -1, .max = sizeof(uint64_t),
};

/*
 * Makes the JVM write its map, and copies the map to `out`.  `before` is written_ns() before the
 * request.  If `before` is 0, there was no map, so removes the JVM's map after copying it.  Sets
 * *is_over to true, even if the function fails, when no map remains that must be removed and the
 * JVM will not write another one.
 */
static int take_own(const struct ctx *ctx, uint64_t before, struct atomic_file *out, bool *is_over,
		    struct err *err)
{
	uint64_t after;
	const struct target_query remove = { .fn = remove_own, .arg = &after, .fd = -1 };
	_cleanup_buf_ struct buf none = BUF_INIT;
	_cleanup_free_ char *path = own_path(ctx->jvm);
	int rc;

	if (ask(ctx, "", err) < 0 || target_query_number(ctx->jvm, &when_own, &after, err) < 0)
		return -1;
	*is_over = after == before || before != 0;
	if (after == before)
		return not_written(ctx, path, err);
	rc = copy_own(ctx, out, err);
	if (before != 0)
		return rc;
	*is_over = target_query(ctx->jvm, &remove, &none, err) == 0;
	return *is_over ? rc : -1;
}

static int write_own(const struct ctx *ctx, struct atomic_file *out, struct err *err)
{
	struct reaper reaper;
	uint64_t before;
	bool is_over = false;
	int rc;

	if (target_query_number(ctx->jvm, &when_own, &before, err) < 0)
		return -1;
	if (before != 0)
		return take_own(ctx, before, out, &is_over, err);
	rc = start_reaper(ctx, &reaper, err);
	if (rc == 0)
		rc = take_own(ctx, before, out, &is_over, err);
	end_reaper(&reaper, is_over);
	return rc;
}

int perfmap_vm_check(const struct ctx *ctx, struct err *err)
{
	uint64_t time;

	if (jvm_feature(ctx->jvm) >= FILENAME_SINCE)
		return 0;
	return target_query_number(ctx->jvm, &when_own, &time, err);
}

int perfmap_by_vm(const struct ctx *ctx, struct atomic_file *out, struct err *err)
{
	return jvm_feature(ctx->jvm) >= FILENAME_SINCE ? write_staged(ctx, out, err)
						       : write_own(ctx, out, err);
}
