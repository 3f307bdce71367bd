/*
 * The files that describe a JVM: libjvm.so and hsperfdata from its mappings, `release` in its Java
 * home, and files in /proc.  The target controls all of them.  If a file is unreadable, the
 * properties that it would show are unknown.
 */
#ifndef JTOOL_DISCOVER_JVM_FILES_H
#define JTOOL_DISCOVER_JVM_FILES_H

#include "discover/jvm.h"
#include "proc/procfs.h"

/* The files that a process has mapped.  Paths are as /proc/PID/maps shows them to jtool. */
struct jvm_files {
	pid_t nspid;
	char *libjvm;
	char *perfdata;      /* the hsperfdata file that this process has mapped */
	/* "map_files/START-END": path below /proc/PID that opens the file even if it was deleted */
	char *perfdata_link;
	bool perfdata_deleted;
	bool is_openj9;
	bool is_denied;      /* the mappings cannot be read */
};

/*
 * Reads the mappings of a process.  Returns 0 or a negative errno; release `files` in both cases.
 */
int jvm_files_find(const struct procfs *proc, pid_t pid, pid_t nspid,
		   struct jvm_files *files) _must_check_;
/*
 * Sets the error for a process in which jvm_files_find() has found no libjvm.so; `rc` is the result
 * of that function.  Returns -1.
 */
int jvm_files_refuse(const struct proc_status *status, pid_t pid, int rc, struct err *err);
void jvm_files_release(struct jvm_files *files);

/*
 * Fills in the properties of `jvm` that can be read from `files` and /proc; the caller has set the
 * pid and ids.  Call this function only in a worker, unless mounts_are_local() shows that the
 * target's file systems cannot block (mounts.h).
 */
void jvm_files_read(const struct procfs *proc, struct jvm *jvm, const struct jvm_files *files);

/*
 * Like jvm_files_read(), for a JVM with a file system that does not answer: fills in only the
 * properties that /proc shows, and sets jvm->hung to the result of jvm_files_hung().
 */
void jvm_files_skip(const struct procfs *proc, struct jvm *jvm, const struct jvm_files *files);

/*
 * Call this function after a file system of the JVM has not answered.  Returns a text that names
 * the JVM's file system that is the most likely cause; the caller frees the text.  `libjvm` is the
 * path of libjvm.so in the JVM's root, or NULL.
 */
char *jvm_files_hung(const struct procfs *proc, const struct jvm *jvm,
		     const char *libjvm) _must_check_;

#endif
