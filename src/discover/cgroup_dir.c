#include "discover/cgroup_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statfs.h>

#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"
#include "proc/inroot.h"
#include "proc/mounts.h"

#define UNLIMITED (INT64_MAX / 2) /* in version 1, a number of at least this size is "no limit" */

/* The f_type of statfs(2) for the file systems of control groups, version 1 and 2. */
#define CGROUP_TYPE 0x27e0eb
#define CGROUP2_TYPE 0x63677270

static bool in_list(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		size_t n = strcspn(list, ",");

		if (n == len && memcmp(list, word, len) == 0)
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

/*
 * Finds the line "N:CONTROLLERS:PATH" of a controller in `groups`, and sets *path to PATH; in
 * version 2, CONTROLLERS is empty.  Returns true if there is such a line.  If PATH begins with
 * "/..", the group is outside of jtool's cgroup namespace, and only mounts of another namespace
 * show the group.  In that case, sets *path to NULL unless `outside` is true.
 */
static bool find_path(const char *groups, const char *controller, bool outside, char **path)
{
	_cleanup_free_ char *text = xstrdup(groups);
	char *rest = text, *line;

	*path = NULL;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *controllers, *at = line;

		(void)strsep(&at, ":");
		controllers = strsep(&at, ":");
		if (!at || !in_list(controllers, controller))
			continue;
		if (*at == '/' && (outside || strncmp(at, "/..", 3) != 0))
			*path = xstrdup(at);
		return true;
	}
	return false;
}

/* Returns the part of `path` after `root`; NULL if `path` is not `root` or below it. */
static const char *below(const char *path, const char *root)
{
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(path, root, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] == '/' && !path[len + 1] ? "" : path + len;
}

/*
 * Parses a line of mountinfo: ID PARENT DEV ROOT POINT OPTIONS [TAG…] - TYPE SOURCE SUPER.  If the
 * mount is of this controller's hierarchy and contains the group `path`, fills in *g and returns
 * true.
 */
static bool match_mount(char *line, const char *controller, const char *path, struct group *g)
{
	char *fields[5], *rest = strstr(line, " - "), *type, *super;
	const char *inside;

	if (!rest)
		return false;
	*rest = '\0';
	rest += 3;
	type = strsep(&rest, " ");
	(void)strsep(&rest, " ");
	super = rest ? rest : type;
	if (strcmp(type, *controller ? "cgroup" : "cgroup2") != 0 ||
	    (*controller && !in_list(super, controller)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		fields[i] = strsep(&line, " ");
		if (!fields[i])
			return false;
	}
	mount_unescape(fields[3]);
	mount_unescape(fields[4]);
	inside = below(path, fields[3]);
	if (!inside)
		return false;
	g->dir = xasprintf("%s%s", fields[4], inside);
	g->path = xstrdup(strcmp(path, "/") == 0 ? "" : path);
	g->top = strlen(fields[4]);
	return true;
}

struct group group_find_below(int root_fd, const char *mounts, const char *groups,
				     const char *controller)
{
	bool outside = root_fd != AT_FDCWD;
	_cleanup_free_ char *text = xstrdup(mounts), *path = NULL;
	char *rest = text, *line;
	struct group g = { .root_fd = root_fd };

	if (!find_path(groups, controller, outside, &path)) {
		g.is_v2 = true;
		controller = "";
		/* On failure `path` stays NULL. */
		(void)find_path(groups, controller, outside, &path);
	}
	while (path && !g.dir && (line = strsep(&rest, "\n")) != NULL)
		(void)match_mount(line, controller, path, &g);
	return g;
}

struct group group_find(const char *mounts, const char *groups, const char *controller)
{
	return group_find_below(AT_FDCWD, mounts, groups, controller);
}

/*
 * Opens a file of the group.  Below the root of another process, fails if the file is not in a file
 * system for control groups, because that process may have mounted another file system there.
 */
int group_open(const struct group *g, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", g->dir, name);
	struct statfs fs;
	struct stat st;
	int fd;

	if (g->root_fd == AT_FDCWD)
		return file_open_regular(AT_FDCWD, path, O_NOFOLLOW, &st);
	fd = inroot_open_regular(g->root_fd, path, O_NOFOLLOW, &st);
	if (fd >= 0 && (fstatfs(fd, &fs) < 0 || ((uint32_t)fs.f_type != CGROUP_TYPE &&
						 (uint32_t)fs.f_type != CGROUP2_TYPE))) {
		(void)close(fd); /* read-only descriptor, nothing to flush */
		return -EINVAL;
	}
	return fd;
}

bool group_go_up(struct group *g)
{
	char *slash = strrchr(g->dir, '/'), *name = strrchr(g->path, '/');

	if (!slash || (size_t)(slash - g->dir) < g->top || !name)
		return false;
	*slash = *name = '\0';
	return true;
}

void group_release(struct group *g)
{
	free(g->dir);
	free(g->path);
}

size_t group_read_numbers(const struct group *g, const char *name, int64_t *numbers, size_t max)
{
	_cleanup_close_ int fd = group_open(g, name);
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *at;
	size_t n;

	for (n = 0; n < max; n++)
		numbers[n] = -1;
	if (fd < 0 || io_slurp(fd, &text, 4096) < 0)
		return 0;
	at = buf_str(&text);
	for (n = 0; n < max && *(at += strspn(at, " \n")); n++) {
		char *end;
		unsigned long long value = strtoull(at, &end, 10);

		if (end != at && *at != '-' && value < (unsigned long long)UNLIMITED)
			numbers[n] = (int64_t)value;
		at += strcspn(at, " \n");
	}
	return n;
}

int64_t group_read_number(const struct group *g, const char *name)
{
	int64_t number;

	(void)group_read_numbers(g, name, &number, 1); /* sets -1 if the file has no number */
	return number;
}

bool group_is_below(const char *path, const char *top)
{
	return below(path, top) != NULL;
}
