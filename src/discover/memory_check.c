#include "discover/memory_check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/deadline.h"
#include "discover/cmdline.h"
#include "fileio/file_open.h"
#include "fileio/io.h"

#define TEXT_MAX 65536
#define MB (INT64_C(1) << 20)
#define WATCH_NS 20000000

/* Returns the bytes in the line that begins with `key`, such as "\nMemFree:"; -1: no such line. */
static int64_t bytes_of(const char *text, const char *key)
{
	const char *line = strstr(text, key);
	char *end;
	long long kb;

	if (!line)
		return -1;
	line += strlen(key);
	kb = strtoll(line, &end, 10);
	return end == line || kb < 0 || kb > INT64_MAX / 1024 ? -1 : kb * 1024;
}

/* Returns -ENODATA on Linux before 3.14, which has no MemAvailable. */
int memory_machine(const struct procfs *proc, struct cgroup_level *level)
{
	struct stat st;
	_cleanup_close_ int fd = file_open_regular(proc->fd, "meminfo", 0, &st);
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addc(&text, '\n');
	if (fd < 0 || io_slurp(fd, &text, TEXT_MAX) < 0)
		return -ENODATA;
	*level = (struct cgroup_level){
		.limit = bytes_of(buf_str(&text), "\nMemTotal:"),
		.free = bytes_of(buf_str(&text), "\nMemAvailable:"),
		.used = -1,
		.shared = true,
	};
	return level->limit < 0 || level->free < 0 ? -ENODATA : 0;
}

int64_t memory_free(const struct procfs *proc, pid_t pid)
{
	struct cgroup_level machine;
	int64_t bytes = memory_machine(proc, &machine) < 0 ? -1 : machine.free;
	struct cgroup own;

	cgroup_read(proc, pid, &own);
	if (own.memory_free >= 0 && (bytes < 0 || own.memory_free < bytes))
		return own.memory_free;
	return bytes;
}

void oom_score_raise(void)
{
	static const char most[] = "1000"; /* OOM_SCORE_ADJ_MAX: see proc(5) */
	_cleanup_close_ int file = file_open_path(AT_FDCWD, "/proc/self/oom_score_adj", 0);
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (file >= 0 && fstat(file, &st) == 0)
		fd = file_reopen(file, O_WRONLY, &st);
	if (fd < 0 || write(fd, most, strlen(most)) < 0)
		return; /* jtool works without it, but the OOM killer may then choose a JVM first */
}

/* For each use: the least memory, in bytes, that jtool and its helper processes take (measured). */
static const int64_t own_min[] = {
	[MEMORY_IDLE] = 0,
	[MEMORY_REQUEST] = 3 * MB / 2,
	[MEMORY_AGENT] = 4 * MB,
	[MEMORY_DUMP] = 4 * MB,
	[MEMORY_CHANGE] = 8 * MB,
	[MEMORY_JAVA] = 2 * MB,
	[MEMORY_CHANGE_ALL] = 8 * MB,
	[MEMORY_COLLECT] = 4 * MB,
	[MEMORY_WALK] = 16 * MB,
	[MEMORY_SNAPSHOT] = 16 * MB,
	[MEMORY_COPY] = 0,
};

static const char *const uses[] = {
	[MEMORY_IDLE] = "this",
	[MEMORY_REQUEST] = "this request",
	[MEMORY_AGENT] = "the agent or Java code",
	[MEMORY_DUMP] = "a heap dump",
	[MEMORY_CHANGE] = "transforming classes",
	[MEMORY_JAVA] = "loading Java classes",
	[MEMORY_CHANGE_ALL] = "transforming many classes",
	[MEMORY_COLLECT] = "a full collection or heap dump",
	[MEMORY_WALK] = "a walk along all references",
	[MEMORY_SNAPSHOT] = "a snapshot",
	[MEMORY_COPY] = "a snapshot",
};

/* The levels: first the n_groups control groups of a process, then the machine. */
struct levels {
	struct cgroup_level list[CGROUP_LEVELS_MAX + 1];
	size_t n, n_groups;
	int error; /* 0; or the negative errno of reading groups in another container */
};

/*
 * Reads the levels of a process.  If the process is in another container, reads its groups only if
 * `thorough` is set, because a child process must read them, which takes longer.
 */
static void read_levels(pid_t pid, bool thorough, struct levels *levels)
{
	struct procfs proc;
	struct cgroup_level *machine;
	int n;

	*levels = (struct levels){ 0 };
	if (procfs_open(&proc, "/proc") < 0)
		return;
	n = cgroup_levels(&proc, pid, levels->list);
	if (n < 0 && thorough) {
		n = cgroup_levels_inside(&proc, pid, levels->list);
		levels->error = n < 0 ? n : 0;
	}
	levels->n = levels->n_groups = n < 0 ? 0 : (size_t)n;
	machine = &levels->list[levels->n];
	if (memory_machine(&proc, machine) == 0)
		levels->n++;
	procfs_close(&proc);
}

int64_t memory_resident(const struct jvm *jvm)
{
	struct proc_memory memory;
	int rc;
	struct procfs proc;

	if (procfs_open(&proc, "/proc") < 0)
		return -1;
	rc = procfs_memory(&proc, jvm->pid, &memory);
	procfs_close(&proc);
	if (rc < 0 || memory.resident < 0)
		return -1;
	return memory.resident + (memory.swapped > 0 ? memory.swapped : 0);
}

int64_t memory_heap_used(const struct jvm *jvm)
{
	int64_t memory;

	if (jvm->heap_used > 0)
		return jvm->heap_used;
	memory = memory_resident(jvm);
	if (memory < 0 || (jvm->heap_max >= 0 && jvm->heap_max < memory))
		return jvm->heap_max;
	return memory;
}

/*
 * Returns what is known of a JVM's heap.  If the JVM has no counters, assumes that its committed
 * heap is as large as its resident memory.
 */
static struct memory_heap heap_of(const struct jvm *jvm)
{
	struct memory_heap heap = {
		.used = jvm->heap_bound,
		.committed = jvm->heap_committed,
		.max = jvm->heap_max,
		.classes = jvm->classes,
		.touched = flags_is_on(jvm->flags, "AlwaysPreTouch"),
	};

	if (heap.used < 0 && heap.committed < 0)
		heap.committed = memory_resident(jvm);
	return heap;
}

static long long to_mb(int64_t bytes)
{
	return (long long)(bytes / MB);
}

static long long to_mb_up(int64_t bytes)
{
	return to_mb(bytes + MB - 1);
}

static int refuse(const struct jvm *jvm, enum memory_use use, const struct levels *levels,
		  const struct memory_room *room, int64_t growth, struct err *err)
{
	const struct cgroup_level *level = &levels->list[room->level];
	bool in_group = room->level < levels->n_groups;
	const char *where = in_group ? "in its control group; raise its memory limit"
				     : "on this machine; free memory";

	if (in_group && level->used < 0)
		return err_set(err, EXIT_PARTIAL,
			       "%s, because the OOM killer could kill JVM %d: the memory usage of "
			       "its control group cannot be read; try again, or run jtool on the "
			       "host", use == MEMORY_IDLE || use == MEMORY_COPY ? "stopped"
									: "not started",
			       (int)jvm->pid);
	if (use == MEMORY_IDLE || use == MEMORY_COPY)
		return err_set(err, EXIT_PARTIAL,
			       "stopped, because the OOM killer could kill JVM %d: only %lld of "
			       "%lld MB of memory are free %s", (int)jvm->pid, to_mb(level->free),
			       to_mb(level->limit), where);
	if (room->verdict == MEMORY_SHORT)
		return err_set(err, EXIT_PARTIAL,
			       "not started, because the OOM killer could kill JVM %d: %s may take "
			       "%lld MB of memory in the JVM, but only %lld of %lld MB are free "
			       "%s", (int)jvm->pid, uses[use], to_mb_up(growth),
			       to_mb(level->free), to_mb(level->limit), where);
	if (in_group)
		where = "in the control group of both; run jtool outside of it, for example on "
			"the host, or raise its memory limit";
	return err_set(err, EXIT_PARTIAL,
		       "not started, because the OOM killer could kill JVM %d: for %s, the JVM may "
		       "take %lld MB of memory and jtool %lld MB, but only %lld of %lld MB are "
		       "free %s", (int)jvm->pid, uses[use], to_mb_up(growth),
		       to_mb_up(own_min[use]), to_mb(level->free), to_mb(level->limit), where);
}

int memory_check(const struct jvm *jvm, enum memory_use use, struct memory_room *room,
		 struct err *err)
{
	const struct memory_heap heap = heap_of(jvm);
	int64_t growth = memory_growth(use, &heap);
	struct memory_room here;
	struct levels levels;

	/*
	 * If jvm->hung is set, a file system of the JVM does not answer, so do not start a child
	 * for its groups.  The next step of the command reports the file system.
	 */
	read_levels(jvm->pid, !jvm->hung && use != MEMORY_IDLE && use != MEMORY_COPY, &levels);
	if (levels.error < 0)
		return err_set(err, EXIT_PARTIAL,
			       "not started, because the OOM killer could kill JVM %d: the memory "
			       "limit of its container cannot be read: %s; try again, or run jtool "
			       "on the host", (int)jvm->pid, strerror(-levels.error));
	here = memory_room(levels.list, levels.n, growth, own_min[use]);
	if (here.verdict != MEMORY_GRANTED)
		return refuse(jvm, use, &levels, &here, growth, err);
	if (room)
		*room = here;
	return 0;
}

int memory_watch(struct memory_watch *watch, struct err *err)
{
	int64_t now = monotonic_ns();

	if (now < watch->next_ns)
		return 0;
	watch->next_ns = now + WATCH_NS;
	return memory_check(watch->jvm, MEMORY_IDLE, NULL, err);
}

int64_t memory_left(void)
{
	struct levels levels;

	read_levels(getpid(), false, &levels);
	return memory_room(levels.list, levels.n, 0, 0).own;
}
