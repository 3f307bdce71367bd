/*
 * Reading /proc, or a copy of one: the root can be set, so that a recorded tree can be replayed.
 *
 * Everything is read with openat(2) and read(2) below the root's descriptor; nothing follows a
 * link out of it except where the contract says so (PID/root, PID/cwd).
 */
#ifndef JTOOL_PROC_PROCFS_H
#define JTOOL_PROC_PROCFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct procfs {
	int fd;           /* O_PATH directory of the tree */
	const char *root; /* its path; not owned */
};

/* Open a tree; path is kept by reference.  0 or a negative errno. */
int procfs_open(struct procfs *proc, const char *path) _must_check_;
void procfs_close(struct procfs *proc);

/* Every number that names a process, ascending.  0 or a negative errno; free(*pids). */
int procfs_pids(const struct procfs *proc, pid_t **pids, size_t *n) _must_check_;

/* Open PID/NAME with these flags (O_CLOEXEC is added): a descriptor or a negative errno. */
int procfs_openat(const struct procfs *proc, pid_t pid, const char *name, int flags) _must_check_;

/* Append PID/NAME to `out`, at most max bytes (-EFBIG beyond).  0 or a negative errno. */
int procfs_read(const struct procfs *proc, pid_t pid, const char *name, struct buf *out,
		size_t max) _must_check_;

/* The target of the link PID/NAME (exe, cwd, ns/mnt …) as an allocated text; NULL: unreadable. */
char *procfs_readlink(const struct procfs *proc, pid_t pid, const char *name);

/* What /proc/PID/status and stat tell. */
struct proc_status {
	char name[64];  /* comm */
	char state;     /* R S D T t Z X … */
	bool exiting;   /* killed or ending: set before its files are closed, unlike the state */
	uid_t euid;
	gid_t egid;
	pid_t tgid;     /* differs from pid when pid is a thread */
	pid_t nspid;    /* innermost of NSpid; pid itself on kernels without */
	uint64_t sig_caught;  /* SigCgt */
	uint64_t sig_pending; /* SigPnd | ShdPnd */
	unsigned threads;
	uint64_t start_ticks; /* since boot */
};
int procfs_status(const struct procfs *proc, pid_t pid, struct proc_status *status) _must_check_;
/* The same of a process that began then: -ESRCH when it has ended, or is another one by now. */
int procfs_same(const struct procfs *proc, pid_t pid, uint64_t start_ticks,
		struct proc_status *status) _must_check_;

/* What a process uses and has used; what cannot be told is -1. */
struct proc_usage {
	pid_t parent; /* 0: none that we see */
	double user, system; /* seconds of CPU time, of threads that have ended, too */
	int64_t resident, resident_peak, swapped; /* bytes */
	int64_t open_files, max_files; /* max_files is the soft limit; -1 also when there is none */
};
/* Costs as much as there are open files; 0 or a negative errno. */
int procfs_usage(const struct procfs *proc, pid_t pid, struct proc_usage *usage) _must_check_;

/*
 * Threads of the process from the link count of PID/task: a tenth of the cost of reading any
 * file below PID, and open to everybody.  Is 0 in a copy of a tree whose file system does not
 * count links.  0 or a negative errno.
 */
int procfs_threads(const struct procfs *proc, pid_t pid, unsigned *threads) _must_check_;

/*
 * Call visit() with the name of each thread, from low to high ids, until it returns false or
 * they end.  0 or a negative errno.
 */
typedef bool procfs_thread_visit(const char *name, void *arg);
int procfs_thread_names(const struct procfs *proc, pid_t pid, procfs_thread_visit *visit, void *arg)
	_must_check_;

/* One mapping of a file. */
struct proc_map {
	const char *path;  /* as we see it */
	bool deleted;      /* the file has no name any more */
	const char *range; /* "START-END": PID/map_files/START-END is the file itself */
};

/*
 * Call visit() for the mappings of files, at least the first one of each, in the order of
 * addresses, until it returns false or they end.  0 or a negative errno.
 */
typedef bool procfs_map_visit(const struct proc_map *map, void *arg);
int procfs_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
	_must_check_;
/* The same for what can be executed: programs and libraries. */
int procfs_code_maps(const struct procfs *proc, pid_t pid, procfs_map_visit *visit, void *arg)
	_must_check_;

/* Seconds since the process started; -1 when it cannot be told. */
double procfs_uptime(const struct procfs *proc, const struct proc_status *status);

#endif
