/*
 * A JVM as seen from outside.  Every text comes from the target and is hostile: it may have any
 * byte but NUL.
 */
#ifndef JTOOL_DISCOVER_JVM_H
#define JTOOL_DISCOVER_JVM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/util.h"
#include "proc/perfdata.h"

enum attach_state {
	ATTACH_LISTENING,   /* the JVM listens on its attach socket */
	ATTACH_READY,       /* SIGQUIT and the file .attach_pid<pid> would open the socket */
	ATTACH_READ_ONLY,   /* the JVM cannot create its socket: its tmp is mounted read-only */
	ATTACH_STARTING,    /* the JVM does not catch SIGQUIT yet, so the signal would kill it */
	ATTACH_DISABLED,    /* -XX:+DisableAttachMechanism, or -Xrs and no socket file */
	ATTACH_DENIED,      /* the kernel denies access, for example to another user's JVM */
	ATTACH_UNSUPPORTED, /* the process maps a libjvm.so but is not HotSpot */
	ATTACH_UNREACHABLE, /* a file system of the JVM does not answer */
	ATTACH_LAST = ATTACH_UNREACHABLE,
};

struct worker;

struct jvm {
	pid_t pid;   /* pid in jtool's pid namespace */
	pid_t nspid; /* pid in the JVM's innermost pid namespace */
	uid_t uid;   /* effective ids, in jtool's user namespace */
	gid_t gid;
	/* start time, /proc/PID/stat field 22; if it changes, another process has the pid */
	uint64_t start_ticks;

	/* Texts that this struct owns; NULL: unknown. */
	char *version;   /* java.version: "17.0.15" */
	char *vm;        /* java.vm.name: "OpenJDK 64-Bit Server VM" */
	char *gc;        /* "Serial", "Parallel", "G1", "CMS", "ZGC", "Shenandoah", "Epsilon" */
	char *main;      /* main class, path of the jar (-jar), or module/class */
	char *args;      /* arguments after `main` in the command line, joined by spaces */
	char *flags;     /* options of the VM, joined by spaces */
	char *container; /* container id from the cgroup path */
	char *perfdata;  /* the hsperfdata file that the JVM has mapped: path in the JVM's root */
	char *perfdata_link; /* path below /proc/PID by which a deleted `perfdata` is opened */
	char *tmp; /* directory of the attach socket, as a path in the JVM's root; NULL: /tmp */
	char *hung;      /* name of a file system that does not answer; NULL: none */

	double uptime;     /* seconds; -1 unknown */
	int64_t heap_used; /* bytes; -1 unknown */
	int64_t heap_max;  /* bytes; -1 unknown */
	int64_t classes;   /* number of loaded classes; -1 unknown */
	int64_t heap_committed; /* bytes; -1 unknown */
	/* upper bound of the used heap in bytes, because heap_used may lag; -1 unknown */
	int64_t heap_bound;
	bool has_perfdata;
	bool is_hotspot;  /* false: another VM with a libjvm.so */
	bool no_attach;   /* the JVM was started with attaching disabled */
	bool starting;    /* hsperfdata says that the VM is starting */
	bool initialised; /* hsperfdata says that the VM has started */
	int64_t listed_ns; /* monotonic_ns() when the JVM was inspected */
	/* the counters when the JVM was inspected; empty: unreadable, read by a worker, or taken */
	struct perfdata perf;
	/* state at listed_ns; set only by discover_all(), if its argument `states` is true */
	enum attach_state attach;
	/* the worker that inspected the JVM; NULL: no worker, or attach.c has taken the worker */
	struct worker *_Atomic worker;
};

/*
 * Returns a user's name from jtool's /etc/passwd, or the id as decimal text; the caller frees it.
 * Name services are not used, because they need shared libraries, and jtool is linked statically.
 */
char *jvm_user_name(uid_t uid) _must_check_;

/*
 * Sets EXIT_PERMISSION for a process that only root, or a user with the process's user and group
 * ids, may inspect.  If the caller is root, the text names the capability that the caller lacks.
 * `what` is the process's name in the text.  Returns -1.
 */
int jvm_denied_process(const char *what, uid_t uid, gid_t gid, struct err *err);
/* Sets EXIT_PERMISSION for a JVM that the caller may not inspect.  Returns -1. */
int jvm_denied(const struct jvm *jvm, struct err *err);

/*
 * Sets EXIT_PERMISSION: jtool may not switch to the JVM's user and group ids.  `why` is the reason,
 * for the error text.  Returns -1.
 */
int jvm_cannot_become(const struct jvm *jvm, const char *why, struct err *err);

/* Sets EXIT_PERMISSION for a /proc that procfs_open() cannot open.  Returns -1. */
int jvm_no_proc(int error, struct err *err);

/* Sets EXIT_PARTIAL for a JVM that has exited.  Returns -1. */
int jvm_gone(const struct jvm *jvm, struct err *err);

/*
 * Sets EXIT_ATTACH for a JVM whose files cannot be read, because the file system `what` does not
 * answer; `what` NULL means jvm->hung.  Returns -1.
 */
int jvm_unreachable(const struct jvm *jvm, const char *what, struct err *err);

/* Returns the state's name in output: "listening", "ready", … */
const char *attach_state_name(enum attach_state state);

/* Returns the feature release: 8 for version "1.8.0_392", 17 for "17.0.15"; 0: unknown. */
int jvm_feature(const struct jvm *jvm);

/*
 * Returns jvm->main without package, module or directories; a jar keeps ".jar".  NULL if unknown.
 */
const char *jvm_simple_main(const struct jvm *jvm);

/*
 * Returns the directory of the attach socket, trigger file and hsperfdata, as an absolute path in
 * the JVM's root: /tmp unless flags of the JVM name another.  Owned by `jvm`.
 */
const char *jvm_tmp(const struct jvm *jvm);

void jvm_free(struct jvm *jvm); /* frees the JVM; NULL is allowed */

#endif
