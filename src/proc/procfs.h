/*
 * Reader for /proc, or for a recorded copy of it at another path.
 *
 * Files are read with openat(2) and read(2) below the descriptor of /proc or of the copy.  Links
 * that lead elsewhere, such as PID/root and PID/cwd, are followed only by functions whose comment
 * says so.
 *
 * If the kernel denies access to another user's process, each access is tried again with the
 * file-system ids of that process, see fs_ids.h.
 */
#ifndef JTOOL_PROC_PROCFS_H
#define JTOOL_PROC_PROCFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buf.h"
#include "proc/capabilities.h"
#include "proc/fs_ids.h"

struct procfs {
	int fd;           /* O_PATH descriptor of /proc, or of the recorded copy */
	const char *root; /* path of this directory; not owned */
};

/*
 * Opens the directory `path`, which is /proc or a recorded copy.  `path` must stay valid until the
 * close.  Returns 0; -ENODEV if `path` is /proc, but no procfs is mounted there; or another
 * negative errno.
 */
int procfs_open(struct procfs *proc, const char *path) _must_check_;
void procfs_close(struct procfs *proc);

/*
 * Returns true if the pids of this /proc are those of the calling process's pid namespace.  Only
 * then may they be passed to system calls such as kill(2).  They are not if jtool was started by
 * nsenter -m without -p, or in a container that mounts the host's /proc.  Returns false for a
 * recorded copy.
 */
bool procfs_is_own(const struct procfs *proc);

/* Lists the pids in ascending order.  The caller frees *pids.  Returns 0 or a negative errno. */
int procfs_pids(const struct procfs *proc, pid_t **pids, size_t *n) _must_check_;

/* Opens PID/NAME with these flags and O_CLOEXEC.  Returns a descriptor or a negative errno. */
int procfs_openat(const struct procfs *proc, pid_t pid, const char *name, int flags) _must_check_;

/*
 * Gives the calling thread the file-system ids of a process, for an access for which this header
 * has no function.  Returns true if the ids have changed; then call fs_ids_restore(saved) after the
 * access.
 */
bool procfs_take_ids(const struct procfs *proc, pid_t pid, struct fs_ids *saved) _must_check_;

/*
 * Appends the content of PID/NAME to `out`.  Returns 0; -EFBIG if the content exceeds max
 * bytes; or another negative errno.
 */
int procfs_read(const struct procfs *proc, pid_t pid, const char *name, struct buf *out,
		size_t max) _must_check_;

/*
 * Appends the content of self/NAME (the caller's process) to `out`.  Returns as procfs_read() does.
 */
int procfs_read_own(const struct procfs *proc, const char *name, struct buf *out, size_t max)
	_must_check_;

/*
 * Returns the target of the link PID/NAME (exe, cwd, …), which the caller frees; or NULL with errno
 * set.
 */
char *procfs_readlink(const struct procfs *proc, pid_t pid, const char *name);

/* Calls stat(2) for PID/NAME, so a link is followed.  Returns 0 or a negative errno. */
int procfs_stat(const struct procfs *proc, pid_t pid, const char *name, struct stat *st)
	_must_check_;

/* Fields of /proc/PID/status and /proc/PID/stat. */
struct proc_status {
	char name[64];  /* comm */
	char state;     /* R S D T t Z X … */
	/* killed or exiting; unlike `state`, this is set before the process's files are closed */
	bool exiting;
	uid_t euid;
	gid_t egid;
	pid_t tgid;     /* differs from pid when pid is a thread */
	pid_t nspid;    /* pid in the innermost pid namespace; `pid` itself on Linux before 4.1 */
	uint64_t sig_caught;  /* SigCgt */
	uint64_t sig_pending; /* SigPnd | ShdPnd */
	struct capability_sets caps; /* in the user namespace of the process */
	unsigned threads;
	uint64_t start_ticks; /* start time, in clock ticks since boot */
};
/*
 * Reads the state of a process or thread.  Returns 0, or a negative errno: -ENOENT or -ESRCH if it
 * does not exist.
 */
int procfs_status(const struct procfs *proc, pid_t pid, struct proc_status *status) _must_check_;
/*
 * Like procfs_status(), but returns -ESRCH if the process with this start time is exiting or has
 * ended.
 */
int procfs_recheck(const struct procfs *proc, pid_t pid, uint64_t start_ticks,
		struct proc_status *status) _must_check_;
/* Whether the process with this start time has not begun to exit; reads only PID/stat. */
bool procfs_is_alive(const struct procfs *proc, pid_t pid, uint64_t start_ticks);

/*
 * Stores the supplementary groups of a process, as ids of the caller's user namespace.  Skips
 * 65534, which the kernel shows for each group that is not mapped there, because it may also be the
 * id of another group.  Returns the number of groups; -E2BIG if there are more than `max`; or
 * another negative errno.
 */
int procfs_groups(const struct procfs *proc, pid_t pid, gid_t *groups, size_t max) _must_check_;

/* Memory of a process in bytes, from PID/status; unknown values are -1. */
struct proc_memory {
	int64_t resident, resident_peak, swapped;
};
/* Sets *memory.  Returns 0 or a negative errno. */
int procfs_memory(const struct procfs *proc, pid_t pid, struct proc_memory *memory) _must_check_;

/* Resource usage of a process; unknown values are -1. */
struct proc_usage {
	pid_t parent; /* pid of the parent; 0: the parent is not in jtool's pid namespace */
	double user, system; /* seconds of CPU time, including that of ended threads */
	struct proc_memory memory;
	int64_t open_files, max_files; /* max_files: the soft limit; -1: unknown or unlimited */
};
/*
 * Sets *usage.  Takes time proportional to the number of open files.  Returns 0 or a negative
 * errno.
 */
int procfs_usage(const struct procfs *proc, pid_t pid, struct proc_usage *usage) _must_check_;

/*
 * Counts the threads by the link count of PID/task.  This takes a tenth of the time of reading a
 * file below PID, and needs no permission.  Sets *threads to 0 for a recorded copy of /proc on a
 * file system that does not count links.  Returns 0 or a negative errno.
 */
int procfs_threads(const struct procfs *proc, pid_t pid, unsigned *threads) _must_check_;

/* Calls visit() for each thread, in ascending order of ids, until visit() returns false. */
typedef bool procfs_thread_visit(const char *name, void *arg);
int procfs_thread_names(const struct procfs *proc, pid_t pid, procfs_thread_visit *visit, void *arg)
	_must_check_;

/* One mapping of a file. */
struct proc_map {
	const char *path;  /* path of the file as PID/maps shows it to jtool */
	bool deleted;      /* the file was unlinked since it was mapped */
	/*
	 * "START-END", the name of a link in PID/map_files that leads to the file even if it was
	 * deleted
	 */
	const char *range;
};

/*
 * Calls visit() for mappings of files, in ascending order of addresses, until visit() returns
 * false.  For a file with several mappings, may visit only the first.  Returns 0 or a negative
 * errno.
 */
typedef bool procfs_map_visit(const struct proc_map *map, void *arg);
int procfs_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
	_must_check_;
/* As procfs_maps(), but calls visit() only for executable mappings: programs and libraries. */
int procfs_code_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
	_must_check_;

/*
 * As procfs_maps(), but calls visit() only for executable and for shared mappings, in no particular
 * order.  This skips most mappings of a JVM: those of jars and of its class archive.
 */
int procfs_vm_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
	_must_check_;

/* Returns the seconds since the process started, or -1 if that is unknown. */
double procfs_uptime(const struct procfs *proc, const struct proc_status *status);

#endif
