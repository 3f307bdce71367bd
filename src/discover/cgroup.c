#include "discover/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"
#include "discover/cgroup_dir.h"
#include "proc/mounts.h"
#include "worker/worker.h"

#define TEXT_MAX (1024u * 1024)

/*
 * Returns the size of the group's inactive file pages in bytes; 0 if it is unknown.  The kernel
 * reclaims these pages first.
 */
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

/* If `used` is unknown (-1), returns 0: a request must not rely on memory that may be in use. */
static int64_t bytes_free(const struct group *g, int64_t limit, int64_t used)
{
	int64_t cache = used < 0 ? 0 : read_cache(g);

	if (used > cache)
		used -= cache;
	return used >= 0 && used < limit ? limit - used : 0;
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

/*
 * Reads the levels from *g upwards, and returns their number.  `ours` is the group of jtool itself,
 * from which `shared` is computed; ours->path is NULL if the group of jtool is unknown.
 */
static size_t read_levels(struct group *g, const struct group *ours, struct cgroup_level *levels)
{
	bool kills_all = false;
	size_t n = 0;

	do {
		kills_all = kills_all ||
			    (g->is_v2 && group_read_number(g, "memory.oom.group") == 1);
		if (!read_level(g, &levels[n]))
			continue;
		/*
		 * If memory.oom.group is set for a group, the kernel kills all processes of the
		 * group even when the limit of a parent group is exceeded.  So kills_all stays true
		 * for the parent groups.
		 */
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

/* Returns the number of CPUs that the group may use on average; -1: no quota. */
static double read_quota(const struct group *g)
{
	int64_t quota[2]; /* quota and period in µs */

	if (g->is_v2) {
		(void)group_read_numbers(g, "cpu.max", quota, 2); /* no quota: sets -1 */
	} else {
		quota[0] = group_read_number(g, "cpu.cfs_quota_us");
		quota[1] = group_read_number(g, "cpu.cfs_period_us");
	}
	return quota[0] > 0 && quota[1] > 0 ? (double)quota[0] / (double)quota[1] : -1;
}

/* Returns for how many seconds the group was throttled; -1: unknown. */
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
	return mounts_read_own(proc, mounts) == 0 &&
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
	struct group g, ours = { 0 };
	int n = -ENOENT;

	if (!read_texts(proc, pid, &mounts, &groups))
		return -ENOENT;
	if (procfs_read_own(proc, "cgroup", &own, TEXT_MAX) == 0)
		ours = group_find(buf_str(&mounts), buf_str(&own), "memory");
	g = group_find(buf_str(&mounts), buf_str(&groups), "memory");
	if (g.dir)
		n = (int)read_levels(&g, &ours, levels);
	group_release(&g);
	group_release(&ours);
	return n;
}

/*
 * The request to the worker.  The pointer in it is valid in the worker, because the worker is a
 * fork of this process.
 */
struct query {
	const struct procfs *proc;
	pid_t pid;
};

/* A struct cgroup_level in the worker's answer. */
struct level_record {
	int64_t limit, free, used, kills_all;
};

/* In the worker: reads the levels in a cgroup mount of the target; that mount may not answer. */
static int answer_levels(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	_cleanup_buf_ struct buf mounts = BUF_INIT, groups = BUF_INIT;
	_cleanup_close_ int root_fd = -1;
	struct cgroup_level levels[CGROUP_LEVELS_MAX] = { { 0 } };
	const struct group none = { 0 };
	struct query q;
	struct group g;
	size_t n;

	(void)fd;
	(void)err;
	worker_confine();
	memcpy(&q, request->data, sizeof(q));
	root_fd = mounts_open_root(q.proc, q.pid);
	if (root_fd < 0 || procfs_read(q.proc, q.pid, "mountinfo", &mounts, TEXT_MAX) < 0 ||
	    procfs_read(q.proc, q.pid, "cgroup", &groups, TEXT_MAX) < 0)
		return 0; /* an answer without levels */
	g = group_find_below(root_fd, buf_str(&mounts), buf_str(&groups), "memory");
	n = g.dir ? read_levels(&g, &none, levels) : 0;
	group_release(&g);
	for (size_t i = 0; i < n; i++) {
		const struct level_record r = { levels[i].limit, levels[i].free, levels[i].used,
						levels[i].kills_all };

		buf_add(answer, &r, sizeof(r));
	}
	return 0;
}

static int take_levels(const struct buf *answer, struct cgroup_level levels[CGROUP_LEVELS_MAX])
{
	size_t n = answer->len / sizeof(struct level_record);
	struct level_record r;

	if (answer->len % sizeof(r) != 0 || n > CGROUP_LEVELS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		memcpy(&r, answer->data + i * sizeof(r), sizeof(r));
		if (r.limit < 0 || r.free < 0)
			return -EBADMSG;
		levels[i] = (struct cgroup_level){
			.limit = r.limit, .free = r.free, .used = r.used,
			.kills_all = r.kills_all != 0,
		};
	}
	return (int)n;
}

static bool has_our_mounts(const struct procfs *proc, pid_t pid)
{
	struct stat ours, theirs;

	return procfs_stat(proc, getpid(), "ns/mnt", &ours) == 0 &&
	       procfs_stat(proc, pid, "ns/mnt", &theirs) == 0 &&
	       file_is_same(&ours, &theirs);
}

int cgroup_levels_inside(const struct procfs *proc, pid_t pid,
			 struct cgroup_level levels[CGROUP_LEVELS_MAX])
{
	struct query q = { proc, pid };
	const struct buf request = { (char *)&q, sizeof(q), 0 };
	const struct worker_call call = {
		.fn = answer_levels, .request = &request,
		.max = CGROUP_LEVELS_MAX * sizeof(struct level_record),
		.deadline = deadline_in_ms(WORKER_TASK_MS),
	};
	_cleanup_buf_ struct buf answer = BUF_INIT;
	struct err ignored = { .code = EXIT_DONE };
	int rc;

	if (has_our_mounts(proc, pid))
		return 0;
	rc = worker_run(&call, &proc->fd, 1, &answer, NULL, &ignored);
	return rc < 0 ? rc : take_levels(&answer, levels);
}

int64_t cgroup_lowest_limit(const struct procfs *proc, pid_t pid)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];
	int n = cgroup_levels(proc, pid, levels);
	int64_t limit = -1;

	if (n < 0)
		n = cgroup_levels_inside(proc, pid, levels);
	for (int i = 0; i < n; i++) {
		if (limit < 0 || levels[i].limit < limit)
			limit = levels[i].limit;
	}
	return limit;
}
