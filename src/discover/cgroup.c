#include "discover/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

#include "fileio/child.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"
#include "discover/cgroup_group.h"

#define TEXT_MAX (1024u * 1024)

#define INSIDE_MS 1000

/* Returns the bytes of inactive file pages, which the kernel reclaims first; 0 if unknown. */
static int64_t read_cache(const struct group *g)
{
	const char *key = g->is_v2 ? "\ninactive_file " : "\ntotal_inactive_file ";
	_cleanup_close_ int fd = group_open(g, "memory.stat");
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
	int64_t limit = group_read_number(g, g->is_v2 ? "memory.max" : "memory.limit_in_bytes");

	if (limit < 0)
		return false;
	level->limit = limit;
	level->used = group_read_number(g, g->is_v2 ? "memory.current" : "memory.usage_in_bytes");
	level->free = bytes_free(g, limit, level->used);
	return true;
}

/* `ours` is jtool's own group; its path is NULL if it is unknown. */
static size_t read_levels(struct group *g, const struct group *ours, struct cgroup_level *levels)
{
	bool kills_all = false;
	size_t n = 0;

	do {
		kills_all = kills_all ||
			    (g->is_v2 && group_read_number(g, "memory.oom.group") == 1);
		if (!read_level(g, &levels[n]))
			continue;
		/* The limit of a group above applies to the processes of this group together. */
		levels[n].kills_all = kills_all;
		levels[n].shared = ours->path && ours->is_v2 == g->is_v2 &&
				   group_is_below(ours->path, g->path[0] ? g->path : "/");
		n++;
	} while (n < CGROUP_LEVELS_MAX && group_go_up(g));
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

/* Returns the CPUs that a group may use on average; -1: no quota. */
static double read_quota(const struct group *g)
{
	int64_t quota[2]; /* quota and period in µs */

	if (g->is_v2) {
		(void)group_read_numbers(g, "cpu.max", quota, 2); /* -1: no quota */
	} else {
		quota[0] = group_read_number(g, "cpu.cfs_quota_us");
		quota[1] = group_read_number(g, "cpu.cfs_period_us");
	}
	return quota[0] > 0 && quota[1] > 0 ? (double)quota[0] / (double)quota[1] : -1;
}

/* Returns the seconds for which the group was throttled; -1: unknown. */
static double read_throttled(const struct group *g)
{
	const char *key = g->is_v2 ? "\nthrottled_usec " : "\nthrottled_time ";
	double unit = g->is_v2 ? 1e-6 : 1e-9;
	_cleanup_close_ int fd = group_open(g, "cpu.stat");
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *line;

	buf_addc(&text, '\n');
	if (fd < 0 || io_slurp(fd, &text, TEXT_MAX) < 0)
		return -1;
	line = strstr(buf_str(&text), key);
	return line ? (double)strtoull(line + strlen(key), NULL, 10) * unit : -1;
}

static void read_cpu(struct group *g, struct cgroup_cpu *out)
{
	do {
		double cpus = read_quota(g);

		if (cpus < 0 || (out->cpus >= 0 && cpus >= out->cpus))
			continue;
		out->cpus = cpus;
		out->throttled_s = read_throttled(g);
	} while (group_go_up(g));
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
	struct cgroup_cpu limit = { -1, -1 };
	struct group memory, cpu;

	*out = (struct cgroup){ -1, -1, -1, -1 };
	if (!read_texts(proc, pid, &mounts, &groups))
		return;
	memory = group_find(buf_str(&mounts), buf_str(&groups), "memory");
	cpu = group_find(buf_str(&mounts), buf_str(&groups), "cpu");
	if (memory.dir)
		sum_up(levels, read_levels(&memory, &none, levels), out);
	if (cpu.dir)
		read_cpu(&cpu, &limit);
	out->cpus = limit.cpus;
	group_release(&memory);
	group_release(&cpu);
}

void cgroup_cpu_read(const struct procfs *proc, pid_t pid, struct cgroup_cpu *out)
{
	_cleanup_buf_ struct buf mounts = BUF_INIT, groups = BUF_INIT;
	struct group cpu;

	*out = (struct cgroup_cpu){ -1, -1 };
	if (!read_texts(proc, pid, &mounts, &groups))
		return;
	cpu = group_find(buf_str(&mounts), buf_str(&groups), "cpu");
	if (cpu.dir)
		read_cpu(&cpu, out);
	group_release(&cpu);
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
		ours = group_find(buf_str(&mounts), buf_str(&own), "memory");
	g = group_find(buf_str(&mounts), buf_str(&groups), "memory");
	if (g.dir)
		n = (int)read_levels(&g, &ours, levels);
	group_release(&g);
	group_release(&ours);
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
	g = group_find_below(root_fd, buf_str(&mounts), buf_str(&groups), "memory");
	n = g.dir ? read_levels(&g, &none, levels) : 0;
	group_release(&g);
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
