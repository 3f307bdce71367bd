#include "session/staging/staging_paths.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fileio/disk_room.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"
#include "proc/inroot.h"

#define UID_MAP_MAX 65536
#define PASSWD_MAX (1024 * 1024)

/* Sets `uid` and `root` of *w, and clears the other members. */
static void init(struct staging_paths *w, const struct target_ns *ns)
{
	_cleanup_buf_ struct buf map = BUF_INIT;
	uid_t uid = ns->jvm->uid;
	unsigned long inside, outside, count;
	char *at;

	*w = (struct staging_paths){ .uid = uid };
	if (ns->same_userns ||
	    procfs_read(&ns->proc, ns->jvm->pid, "uid_map", &map, UID_MAP_MAX) < 0 || map.len == 0)
		return;
	/* A line has three numbers; strtoul(3) skips white space.  A count of 0 is the end. */
	at = map.data;
	do {
		inside = strtoul(at, &at, 10);
		outside = strtoul(at, &at, 10);
		count = strtoul(at, &at, 10);
		if (uid >= outside && uid - outside < count)
			w->uid = (uid_t)(inside + (uid - outside));
		if (inside == 0 && count > 0)
			w->root = (uid_t)outside;
	} while (count > 0);
}

static bool is_same_dir(const struct target_ns *ns, const char *path, int dir_fd)
{
	_cleanup_close_ int fd = inroot_open(ns->root_fd, path, O_DIRECTORY);
	struct stat a, b;

	return fd >= 0 && fstat(fd, &a) == 0 && fstat(dir_fd, &b) == 0 && file_is_same(&a, &b);
}

/*
 * Converts `path`, which comes from the kernel and is relative to jtool's root, to a path in the
 * target's root: removes the path of that root from the start.  Returns NULL if the result does not
 * lead to the directory that is open as dir_fd.
 */
static const char *inside(const struct target_ns *ns, const char *path, int dir_fd)
{
	_cleanup_free_ char *root = procfs_readlink(&ns->proc, ns->jvm->pid, "root");
	size_t len = root ? strlen(root) : 0;

	if (!root || !path || dir_fd < 0)
		return NULL;
	if (len > 1 && strncmp(path, root, len) == 0)
		path = path[len] ? path + len : "/";
	return is_same_dir(ns, path, dir_fd) ? path : NULL;
}

/*
 * Returns the path `dir` with its symbolic links resolved; or `dir` itself if they cannot be
 * resolved.  jtool needs resolved paths to find a loaded library again: the kernel shows the
 * resolved path of a mapped library, but the dynamic linker finds a loaded library only by the path
 * with which it was loaded.  If jtool loads the library by its resolved path, both paths are equal.
 */
static char *real_path(const struct target_ns *ns, const char *dir)
{
	_cleanup_close_ int fd = inroot_open(ns->root_fd, dir, O_DIRECTORY);
	char link[32], path[PATH_MAX];
	const char *real = NULL;
	ssize_t len = -1;

	if (fd >= 0) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, path, sizeof(path) - 1);
	}
	if (len > 0) {
		path[len] = '\0';
		real = inside(ns, path, fd);
	}
	return xstrdup(real ? real : dir);
}

static void add(struct staging_paths *w, const struct target_ns *ns, const char *dir)
{
	_cleanup_free_ char *real = NULL;

	if (!dir || dir[0] != '/' || strlen(dir) >= PATH_MAX || w->n == STAGING_PATHS_MAX)
		/* not an error: the target chooses some paths, so a path may be unusable */
		return;
	real = real_path(ns, dir);
	for (size_t i = 0; i < w->n; i++) {
		if (strcmp(w->dirs[i], real) == 0)
			return;
	}
	w->dirs[w->n++] = TAKE_PTR(real);
}

static void add_cwd(struct staging_paths *w, const struct target_ns *ns)
{
	_cleanup_free_ char *cwd = procfs_readlink(&ns->proc, ns->jvm->pid, "cwd");

	add(w, ns, inside(ns, cwd, ns->cwd_fd));
}

/*
 * Returns field n, counted from 0, of a line of passwd(5); NULL if the line has no field n.  In the
 * line, replaces the ':' after the field by NUL.
 */
static char *field(char *line, int n)
{
	char *at = line;

	while (n-- > 0 && at) {
		at = strchr(at, ':');
		if (at)
			at++;
	}
	if (at)
		at[strcspn(at, ":\n")] = '\0';
	return at;
}

static void add_home(struct staging_paths *w, const struct target_ns *ns)
{
	struct stat st;
	_cleanup_close_ int fd =
		inroot_open_regular(ns->root_fd, "/etc/passwd", O_NOFOLLOW, &st);
	_cleanup_buf_ struct buf passwd = BUF_INIT;

	if (fd < 0 || io_slurp(fd, &passwd, PASSWD_MAX) < 0 || passwd.len == 0)
		return;
	for (char *line = passwd.data, *next; line && *line; line = next) {
		char *home, *id;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		home = field(line, 5);
		id = home ? field(line, 2) : NULL;
		if (id && *id && strtoul(id, NULL, 10) == w->uid) {
			add(w, ns, home);
			return;
		}
	}
}

void staging_paths_find(const struct target_ns *ns, struct staging_paths *w)
{
	init(w, ns);
	add(w, ns, jvm_tmp(ns->jvm));
	add(w, ns, "/tmp");
	add(w, ns, "/var/tmp");
	add(w, ns, "/dev/shm");
	add(w, ns, "/run");
	add_cwd(w, ns);
	add_home(w, ns);
}

void staging_paths_find_attach(const struct target_ns *ns, struct staging_paths *w)
{
	init(w, ns);
	add(w, ns, "/tmp");
	add_cwd(w, ns);
}

/*
 * Returns true if a user other than root, the root user of the target's user namespace `root`, and
 * this process's user can rename entries of the directory `path`.
 *
 * A group counts as other users, even if it is the target's own: jtool cannot find out who else is
 * in the group.  With an ACL, the group's rights in the mode are the most that the ACL gives.
 */
static bool others_can_rename(int root_fd, const char *path, uid_t root)
{
	_cleanup_close_ int fd = inroot_open(root_fd, path, O_DIRECTORY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return true;
	if (st.st_uid != 0 && st.st_uid != geteuid() && st.st_uid != root)
		return true;
	return st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX);
}

/*
 * Returns true if another user could replace a directory in `path`: if `path` or a directory above
 * it belongs to a user other than root and the target's user, or if others may write to it and it
 * has no sticky bit.
 */
static bool is_exposed(int root_fd, const char *path, uid_t root)
{
	_cleanup_free_ char *prefix = xstrdup(path);

	if (others_can_rename(root_fd, path, root))
		return true;
	for (char *slash = strrchr(prefix, '/'); slash; slash = strrchr(prefix, '/')) {
		*slash = '\0';
		if (others_can_rename(root_fd, *prefix ? prefix : "/", root))
			return true;
	}
	return false;
}

static bool is_in_memory(int root_fd, const char *path)
{
	_cleanup_close_ int fd = inroot_open(root_fd, path, O_DIRECTORY);

	return fd >= 0 && disk_room_is_memory(fd);
}

void staging_paths_sort(struct staging_paths *w, int root_fd, bool by_memory, bool memory_first)
{
	const struct staging_paths old = *w;
	unsigned rank[STAGING_PATHS_MAX] = { 0 };

	for (size_t i = 0; i < old.n; i++) {
		rank[i] = is_exposed(root_fd, old.dirs[i], old.root) ? 2 : 0;
		if (by_memory && is_in_memory(root_fd, old.dirs[i]) != memory_first)
			rank[i]++;
	}
	w->n = 0;
	for (unsigned r = 0; r < 4; r++) {
		for (size_t i = 0; i < old.n; i++) {
			if (rank[i] != r)
				continue;
			w->exposed[w->n] = r >= 2;
			w->dirs[w->n++] = old.dirs[i];
		}
	}
}
