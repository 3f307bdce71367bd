/*
 * A JVM as it is seen from outside: plain data, filled by discover, read by everybody.
 *
 * Every text comes from the target and is hostile: it may hold any byte but NUL.
 */
#ifndef JTOOL_TARGET_JVM_H
#define JTOOL_TARGET_JVM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/util.h"

enum attach_state {
	ATTACH_LISTENING,   /* the attach socket is there and listened to */
	ATTACH_READY,       /* a trigger and SIGQUIT would open it */
	ATTACH_STARTING,    /* SIGQUIT is not caught yet: it would kill */
	ATTACH_DISABLED,    /* -XX:+DisableAttachMechanism, or -Xrs and the socket file is gone */
	ATTACH_DENIED,      /* another user's, and we are not root */
	ATTACH_UNSUPPORTED, /* it maps a libjvm.so, but is no HotSpot */
};

struct jvm {
	pid_t pid;   /* as we see it */
	pid_t nspid; /* as it sees itself: in its own, innermost pid namespace */
	uid_t uid;   /* its effective ids, as we see them */
	gid_t gid;
	uint64_t start_ticks; /* /proc/PID/stat field 22: tells this process from a later one */

	/* NULL when it could not be told */
	char *version;   /* java.version: "17.0.15" */
	char *vm;        /* java.vm.name: "OpenJDK 64-Bit Server VM" */
	char *gc;        /* "Serial", "Parallel", "G1", "CMS", "ZGC", "Shenandoah", "Epsilon" */
	char *main;      /* main class, or the jar's path with -jar, or a module/class */
	char *args;      /* arguments of main, joined by blanks */
	char *flags;     /* arguments of the VM, joined by blanks */
	char *container; /* container id from the cgroup path */
	char *perfdata;  /* the hsperfdata file that it has mapped, absolute in its own root */
	char *perfdata_link; /* when that was deleted: PID/NAME in /proc is the file itself */
	char *tmp;       /* where it keeps its socket, absolute in its own root; NULL: /tmp */

	double uptime;     /* seconds; -1 unknown */
	int64_t heap_used; /* bytes; -1 unknown */
	int64_t heap_max;
	bool has_perfdata;
	bool is_hotspot;  /* false: another VM that also comes as a libjvm.so */
	bool no_attach;   /* it was started with attaching disabled */
	bool starting;    /* hsperfdata says that the VM is not through its start yet */
	bool initialised; /* hsperfdata says that the VM was through its start */
	int64_t listed_ns; /* io_now_ns() when it was looked at */
};

/*
 * What /etc/passwd here calls a user id, else the number; the caller frees it.  Not from the name
 * services: they are shared libraries of the system, and the program is linked statically.
 */
char *jvm_user_name(uid_t uid) _must_check_;

/*
 * Set the error of a process that only its own user and group or root may look into
 * (EXIT_PERMISSION); `what` names it.
 */
int jvm_denied_process(const char *what, uid_t uid, gid_t gid, struct err *err);
/* The same for a JVM. */
int jvm_denied(const struct jvm *jvm, struct err *err);

/* Set the error of a JVM that is not there any more (EXIT_PARTIAL). */
int jvm_gone(const struct jvm *jvm, struct err *err);

/* "listening", "ready", …: the words of the contract. */
const char *attach_state_name(enum attach_state state);

/* The feature release from `version`: 8 for "1.8.0_392", 17 for "17.0.15"; 0 when unknown. */
int jvm_feature(const struct jvm *jvm);

/* `main` without package, module or directories; a jar keeps its ".jar".  NULL: unknown. */
const char *jvm_simple_main(const struct jvm *jvm);

/*
 * The directory of its attach socket, trigger file and hsperfdata, absolute below its own root:
 * /tmp, unless its flags name another.  The jvm's.
 */
const char *jvm_tmp(const struct jvm *jvm);

void jvm_free(struct jvm *jvm); /* NULL is allowed */

#endif
