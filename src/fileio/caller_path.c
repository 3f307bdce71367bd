#include "fileio/caller_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/xalloc.h"
#include "fileio/file_open.h"

#define LINKS_MAX 40 /* maximum number of links that a walk follows, as in the kernel */

/* The position of a walk along a path. */
struct walk {
	int dir_fd;     /* the directory that the walk has reached */
	char *rest;     /* the part of the path that is still to be walked */
	int links;      /* number of symbolic links that the walk has followed */
};

static int walk_begin(struct walk *w, const char *path)
{
	*w = (struct walk){ .dir_fd = -1 };
	if (!*path)
		return -ENOENT;
	w->dir_fd = file_open_path(AT_FDCWD, *path == '/' ? "/" : ".", O_DIRECTORY);
	if (w->dir_fd < 0)
		return w->dir_fd;
	w->rest = xstrdup(path);
	return 0;
}

static void walk_end(struct walk *w)
{
	util_close_p(&w->dir_fd);
	free(w->rest);
}

static void go_to(struct walk *w, int dir_fd)
{
	(void)close(w->dir_fd);
	w->dir_fd = dir_fd;
}

/*
 * Returns true if `fd` is a file of procfs.  The kernel defines the targets of links in procfs, and
 * such a link may refer to a file that has no path, such as a pipe.
 */
static bool is_of_kernel(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (uint32_t)fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Follows the symbolic link link_fd, which is in w->dir_fd: inserts the target of the link before
 * the rest of the path.
 */
static int follow(struct walk *w, int link_fd)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;
	char *rest;

	if (w->links++ == LINKS_MAX)
		return -ELOOP;
	if (fstat(link_fd, &st) < 0)
		return -errno;
	if (st.st_uid != 0 && st.st_uid != geteuid() && !is_of_kernel(link_fd))
		return -ENOTUNIQ;
	n = readlinkat(link_fd, "", target, sizeof(target));
	if (n <= 0 || (size_t)n == sizeof(target))
		return n < 0 ? -errno : n == 0 ? -ENOENT : -ENAMETOOLONG;
	if (target[0] == '/') {
		int root = file_open_path(AT_FDCWD, "/", O_DIRECTORY);

		if (root < 0)
			return root;
		go_to(w, root);
	}
	rest = xasprintf("%.*s/%s", (int)n, target, w->rest);
	free(w->rest);
	w->rest = rest;
	return 0;
}

/*
 * If `name` is a directory, makes it the directory that the walk has reached.  If `name` is a
 * symbolic link, follows the link.  `name` may be ".." or a mount point; the kernel resolves both.
 */
static int enter(struct walk *w, const char *name)
{
	_cleanup_close_ int found = -1;
	struct stat st;
	int fd = file_open_path(w->dir_fd, name, O_DIRECTORY | O_NOFOLLOW);

	if (fd >= 0) {
		go_to(w, fd);
		return 0;
	}
	if (fd != -ENOTDIR)
		return fd;
	found = file_open_path(w->dir_fd, name, O_NOFOLLOW);
	if (found < 0 || fstat(found, &st) < 0)
		return found < 0 ? found : -errno;
	if (!S_ISLNK(st.st_mode))
		return -ENOTDIR;
	if (!is_of_kernel(found))
		return follow(w, found);
	fd = file_open_path(w->dir_fd, name, O_DIRECTORY);
	if (fd >= 0)
		go_to(w, fd);
	return fd < 0 ? fd : 0;
}

/*
 * Removes the first component from the rest of the path.  Returns the component, which the caller
 * frees; or NULL if the rest has no component.
 */
static char *next_component(struct walk *w)
{
	const char *at = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(at, "/");
	char *name = len ? xstrndup(at, len) : NULL;

	memmove(w->rest, at + len, strlen(at + len) + 1);
	return name;
}

static bool is_last(const struct walk *w)
{
	return w->rest[strspn(w->rest, "/")] == '\0';
}

int caller_path_open_dir(const char *path)
{
	struct walk w;
	int rc = walk_begin(&w, path);

	while (rc == 0 && !is_last(&w)) {
		_cleanup_free_ char *name = next_component(&w);

		rc = enter(&w, name);
	}
	if (rc == 0)
		rc = TAKE_FD(w.dir_fd);
	walk_end(&w);
	return rc;
}

/*
 * Stores in *p the file that the walk has found; `fd` is its descriptor.  Returns 0 or a negative
 * errno.  If `fd` is a negative errno, returns `fd` and stores nothing.
 */
static int take(struct caller_path *p, int fd)
{
	if (fd < 0)
		return fd;
	p->fd = fd;
	return fstat(fd, &p->st) < 0 ? -errno : 0;
}

/*
 * Follows the last component of the path, which is a link.  Returns 0 if the link leads to a file
 * that has no path, such as a pipe; 1 if the walk must go on; or a negative errno.
 */
static int follow_last(struct caller_path *p, struct walk *w, const char *name)
{
	_cleanup_close_ int link_fd = TAKE_FD(p->fd);
	int rc;

	p->was_link = true;
	if (is_of_kernel(link_fd)) {
		rc = take(p, file_open_path(w->dir_fd, name, 0));
		if (rc < 0 || !S_ISREG(p->st.st_mode))
			return rc;
		(void)close(TAKE_FD(p->fd));
	}
	rc = follow(w, link_fd);
	return rc < 0 ? rc : 1;
}

/*
 * Opens the last component of the path.  Returns 0 if the component is a file or does not exist; 1
 * if it is a link and the walk must go on; or a negative errno.
 */
static int open_last(struct caller_path *p, struct walk *w, const char *name)
{
	int rc = take(p, file_open_path(w->dir_fd, name, O_NOFOLLOW));

	if (rc == -ENOENT)
		return 0;
	return rc == 0 && S_ISLNK(p->st.st_mode) ? follow_last(p, w, name) : rc;
}

/*
 * Walks over the next component of the path.  Returns 1 if the walk must go on; 0 if the component
 * was the last one; or a negative errno.
 */
static int step(struct caller_path *p, struct walk *w)
{
	_cleanup_free_ char *name = next_component(w);
	int rc;

	if (!name)
		return -EISDIR; /* the path is "/" */
	if (!is_last(w)) {
		rc = enter(w, name);
		return rc < 0 ? rc : 1;
	}
	rc = open_last(p, w, name);
	if (rc == 0)
		p->name = TAKE_PTR(name);
	return rc;
}

int caller_path_open(struct caller_path *p, const char *path)
{
	struct walk w;
	int rc = walk_begin(&w, path);

	*p = (struct caller_path)CALLER_PATH_INIT;
	if (rc == 0) {
		do
			rc = step(p, &w);
		while (rc > 0);
	}
	if (rc == 0)
		p->dir_fd = TAKE_FD(w.dir_fd);
	walk_end(&w);
	if (rc < 0)
		caller_path_release(p);
	return rc;
}

void caller_path_release(struct caller_path *p)
{
	util_close_p(&p->dir_fd);
	util_close_p(&p->fd);
	free(p->name);
	*p = (struct caller_path)CALLER_PATH_INIT;
}

const char *caller_path_error(int error)
{
	return error == -ENOTUNIQ ? "another user's symbolic link; give its target"
				  : strerror(-error);
}

int caller_path_descriptor(const char *path)
{
	static const char *const std[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };

	for (size_t i = 0; i < ARRAY_SIZE(std); i++) {
		if (strcmp(path, std[i]) == 0)
			return (int)i;
	}
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		size_t len = strlen(dirs[i]);
		const char *digits = path + len;

		if (strncmp(path, dirs[i], len) == 0 && strlen(digits) < 8 && *digits &&
		    digits[strspn(digits, "0123456789")] == '\0')
			return (int)strtol(digits, NULL, 10);
	}
	return -1;
}
