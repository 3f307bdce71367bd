#include "discover/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statfs.h>

#include "fileio/child.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"
#include "proc/inroot.h"

#define TEXT_MAX (1024u * 1024)
#define UNLIMITED (INT64_MAX / 2) /* version 1: a huge number means "no limit" */

/* A group of one hierarchy, as a directory that we can read. */
struct group {
	char *dir;  /* NULL: not visible */
	char *path; /* in the hierarchy; "" is its root */
	size_t top; /* length of the hierarchy's mount point in dir */
	bool is_v2;
	int root_fd; /* the root that dir is below, of another process; AT_FDCWD: ours */
};

/* Control group file systems, as statfs(2) identifies them. */
#define CGROUP_TYPE 0x27e0eb
#define CGROUP2_TYPE 0x63677270

#define INSIDE_MS 1000

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
 * Finds the group's path in lines "N:CONTROLLERS:PATH"; in version 2, CONTROLLERS is empty.
 * Returns whether there is such a line.  A path with ".." belongs to a group outside our cgroup
 * namespace, which only mounts in the other namespace show: *path is NULL, unless `outside` is set.
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

/* Decodes in place the \ooo that mountinfo has for spaces, line ends and backslashes. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
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
 * Parses a line of mountinfo: ID PARENT DEV ROOT POINT OPTIONS [TAG…] - TYPE SOURCE SUPER.  Returns
 * true if it mounts this controller's hierarchy and shows the group.
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
	unescape(fields[3]);
	unescape(fields[4]);
	inside = below(path, fields[3]);
	if (!inside)
		return false;
	g->dir = xasprintf("%s%s", fields[4], inside);
	g->path = xstrdup(strcmp(path, "/") == 0 ? "" : path);
	g->top = strlen(fields[4]);
	return true;
}

/* Finds the group of a controller, in its hierarchy of version 1 or in that of version 2. */
static struct group find_group_below(int root_fd, const char *mounts, const char *groups,
				     const char *controller)
{
	bool outside = root_fd != AT_FDCWD;
	_cleanup_free_ char *text = xstrdup(mounts), *path = NULL;
	char *rest = text, *line;
	struct group g = { .root_fd = root_fd };

	if (!find_path(groups, controller, outside, &path)) {
		g.is_v2 = true;
		controller = "";
		(void)find_path(groups, controller, outside, &path); /* else there is no path */
	}
	while (path && !g.dir && (line = strsep(&rest, "\n")) != NULL)
		(void)match_mount(line, controller, path, &g);
	return g;
}

static struct group find_group(const char *mounts, const char *groups, const char *controller)
{
	return find_group_below(AT_FDCWD, mounts, groups, controller);
}

/* Opens a file of the group.  What another process has mounted has to be a control group, too. */
static int open_file(const struct group *g, const char *name)
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
		(void)close(fd); /* read-only */
		return -EINVAL;
	}
	return fd;
}

/* Changes *g to the parent group; returns false at the top. */
static bool go_up(struct group *g)
{
	char *slash = strrchr(g->dir, '/'), *name = strrchr(g->path, '/');

	if (!slash || (size_t)(slash - g->dir) < g->top || !name)
		return false;
	*slash = *name = '\0';
	return true;
}

static void release(struct group *g)
{
	free(g->dir);
	free(g->path);
}

/*
 * Reads the numbers of a small file; -1 for a missing one or a word such as "max".  Returns the
 * number of fields.
 */
static size_t read_numbers(const struct group *g, const char *name, int64_t *numbers, size_t max)
{
	_cleanup_close_ int fd = open_file(g, name);
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

static int64_t read_number(const struct group *g, const char *name)
{
	int64_t number;

	(void)read_numbers(g, name, &number, 1); /* sets -1 if the file has none */
	return number;
}

/* Returns the bytes of inactive file pages, which the kernel reclaims first; 0 if unknown. */
static int64_t read_cache(const struct group *g)
{
	const char *key = g->is_v2 ? "\ninactive_file " : "\ntotal_inactive_file ";
	_cleanup_close_ int fd = open_file(g, "memory.stat");
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *line;
	int64_t bytes;

	buf_addc(&text, '\n');
	if (fd < 0 || io_slurp(fd, &text, TEXT_MAX) < 0)
		return 0;
	line = strstr(buf_str(&text), key);
	bytes = line ? strtoll(line + strlen(key), NULL, 10) : 0;
	return bytes > 0 ? bytes : 0;
}

static int64_t bytes_free(const struct group *g, int64_t limit, int64_t used)
{
	int64_t cache = used < 0 ? 0 : read_cache(g);

	if (used > cache)
		used -= cache;
	return used < limit ? limit - (used < 0 ? 0 : used) : 0;
}

static bool read_level(const struct group *g, struct cgroup_level *level)
{
	int64_t limit = read_number(g, g->is_v2 ? "memory.max" : "memory.limit_in_bytes");

	if (limit < 0)
		return false;
	level->limit = limit;
	level->used = read_number(g, g->is_v2 ? "memory.current" : "memory.usage_in_bytes");
	level->free = bytes_free(g, limit, level->used);
	return true;
}

/* `ours` is jtool's own group; its path is NULL if it is unknown. */
static size_t read_levels(struct group *g, const struct group *ours, struct cgroup_level *levels)
{
	bool kills_all = false;
	size_t n = 0;

	do {
		kills_all = kills_all || (g->is_v2 && read_number(g, "memory.oom.group") == 1);
		if (!read_level(g, &levels[n]))
			continue;
		/* The limit of a group above applies to the processes of this group together. */
		levels[n].kills_all = kills_all;
		levels[n].shared = ours->path && ours->is_v2 == g->is_v2 &&
				   below(ours->path, g->path[0] ? g->path : "/");
		n++;
	} while (n < CGROUP_LEVELS_MAX && go_up(g));
	return n;
}

static void sum_up(const struct cgroup_level *levels, size_t n, struct cgroup *out)
{
	for (size_t i = 0; i < n; i++) {
		if (out->memory_free < 0 || levels[i].free < out->memory_free)
			out->memory_free = levels[i].free;
		if (out->memory_limit >= 0 && levels[i].limit >= out->memory_limit)
			continue;
		out->memory_limit = levels[i].limit;
		out->memory_used = levels[i].used;
	}
}

static void read_cpu(struct group *g, struct cgroup *out)
{
	do {
		int64_t quota[2]; /* quota and period in µs */
		double cpus;

		if (g->is_v2) {
			(void)read_numbers(g, "cpu.max", quota, 2); /* -1: no quota */
		} else {
			quota[0] = read_number(g, "cpu.cfs_quota_us");
			quota[1] = read_number(g, "cpu.cfs_period_us");
		}
		if (quota[0] <= 0 || quota[1] <= 0)
			continue;
		cpus = (double)quota[0] / (double)quota[1];
		if (out->cpus < 0 || cpus < out->cpus)
			out->cpus = cpus;
	} while (go_up(g));
}

static bool read_texts(const struct procfs *proc, pid_t pid, struct buf *mounts,
		       struct buf *groups)
{
	struct stat st;
	_cleanup_close_ int fd = file_open_regular(proc->fd, "self/mountinfo", 0, &st);

	return fd >= 0 && io_slurp(fd, mounts, TEXT_MAX) == 0 &&
	       procfs_read(proc, pid, "cgroup", groups, TEXT_MAX) == 0;
}

void cgroup_read(const struct procfs *proc, pid_t pid, struct cgroup *out)
{
	_cleanup_buf_ struct buf mounts = BUF_INIT, groups = BUF_INIT;
	struct cgroup_level levels[CGROUP_LEVELS_MAX];
	const struct group none = { 0 };
	struct group memory, cpu;

	*out = (struct cgroup){ -1, -1, -1, -1 };
	if (!read_texts(proc, pid, &mounts, &groups))
		return;
	memory = find_group(buf_str(&mounts), buf_str(&groups), "memory");
	cpu = find_group(buf_str(&mounts), buf_str(&groups), "cpu");
	if (memory.dir)
		sum_up(levels, read_levels(&memory, &none, levels), out);
	if (cpu.dir)
		read_cpu(&cpu, out);
	release(&memory);
	release(&cpu);
}

int cgroup_levels(const struct procfs *proc, pid_t pid,
		  struct cgroup_level levels[CGROUP_LEVELS_MAX])
{
	_cleanup_buf_ struct buf mounts = BUF_INIT, groups = BUF_INIT, own = BUF_INIT;
	struct stat st;
	_cleanup_close_ int fd = file_open_regular(proc->fd, "self/cgroup", 0, &st);
	struct group g, ours = { 0 };
	int n = -ENOENT;

	if (!read_texts(proc, pid, &mounts, &groups))
		return -ENOENT;
	if (fd >= 0 && io_slurp(fd, &own, TEXT_MAX) == 0)
		ours = find_group(buf_str(&mounts), buf_str(&own), "memory");
	g = find_group(buf_str(&mounts), buf_str(&groups), "memory");
	if (g.dir)
		n = (int)read_levels(&g, &ours, levels);
	release(&g);
	release(&ours);
	return n;
}

/* In the child: accesses the target's file system. */
static void send_levels_inside(const struct procfs *proc, pid_t pid, int to)
{
	_cleanup_close_ int root_fd = procfs_openat(proc, pid, "root", O_PATH | O_DIRECTORY);
	_cleanup_buf_ struct buf mounts = BUF_INIT, groups = BUF_INIT;
	struct cgroup_level levels[CGROUP_LEVELS_MAX] = { { 0 } };
	const struct group none = { 0 };
	struct group g;
	size_t n;

	if (root_fd < 0 || procfs_read(proc, pid, "mountinfo", &mounts, TEXT_MAX) < 0 ||
	    procfs_read(proc, pid, "cgroup", &groups, TEXT_MAX) < 0)
		return;
	g = find_group_below(root_fd, buf_str(&mounts), buf_str(&groups), "memory");
	n = g.dir ? read_levels(&g, &none, levels) : 0;
	release(&g);
	if (io_write_all(to, levels, n * sizeof(levels[0]), DEADLINE_NEVER) < 0)
		return; /* nobody waits */
}

/* Receives what the child sends until it ends.  Returns the number of levels. */
static int receive_levels(int from, struct cgroup_level levels[CGROUP_LEVELS_MAX],
			  struct deadline d)
{
	size_t len = 0, max = CGROUP_LEVELS_MAX * sizeof(levels[0]);
	ssize_t n = 1;

	while (n > 0 && len < max && io_wait(from, POLLIN, d) == 0) {
		n = io_read(from, (char *)levels + len, max - len);
		len += n > 0 ? (size_t)n : 0;
	}
	return (int)(len / sizeof(levels[0]));
}

static bool has_our_mounts(const struct procfs *proc, pid_t pid)
{
	struct stat ours, theirs;

	return procfs_stat(proc, getpid(), "ns/mnt", &ours) == 0 &&
	       procfs_stat(proc, pid, "ns/mnt", &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

int cgroup_levels_inside(const struct procfs *proc, pid_t pid,
			 struct cgroup_level levels[CGROUP_LEVELS_MAX])
{
	const struct deadline d = deadline_in_ms(INSIDE_MS);
	int fds[2], status, n;
	pid_t child;

	if (has_our_mounts(proc, pid) || pipe2(fds, O_CLOEXEC) < 0)
		return 0;
	child = fork();
	if (child == 0) {
		send_levels_inside(proc, pid, fds[1]);
		_exit(0);
	}
	(void)close(fds[1]);
	n = child > 0 ? receive_levels(fds[0], levels, d) : 0;
	(void)close(fds[0]);
	return child > 0 && child_wait(child, &status, d) == 0 ? n : 0;
}
