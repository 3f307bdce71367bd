/*
 * The files that describe a JVM: libjvm.so and hsperfdata from its mappings, `release` in its Java
 * home, and files in /proc.  All are hostile.  If a file is unreadable, its information is missing.
 */
#ifndef JTOOL_DISCOVER_JVM_FILES_H
#define JTOOL_DISCOVER_JVM_FILES_H

#include "discover/jvm.h"
#include "proc/procfs.h"

/* Files in the mappings of the process; paths are as we see them. */
struct jvm_files {
	pid_t nspid;
	char *libjvm;
	char *perfdata;      /* the hsperfdata file that this process has mapped */
	char *perfdata_link; /* "map_files/…" below /proc/PID: opens a deleted file, too */
	bool perfdata_deleted;
	bool is_openj9;
	bool is_denied;      /* the mappings cannot be read */
};

/* Reads the mappings once.  Returns 0 or a negative errno; release `files` in both cases. */
int jvm_files_find(const struct procfs *proc, pid_t pid, pid_t nspid,
		   struct jvm_files *files) _must_check_;
void jvm_files_release(struct jvm_files *files);

/*
 * Fills in the fields of `jvm` that these files determine; the ids are already set.  Only in a
 * worker: the target's file systems may not answer.
 */
void jvm_files_read(const struct procfs *proc, struct jvm *jvm, const struct jvm_files *files);

/*
 * Fills in what /proc alone shows, if a file system of the JVM does not answer, and jvm->hung,
 * which names it.
 */
void jvm_files_skip(const struct procfs *proc, struct jvm *jvm, const struct jvm_files *files);

/*
 * Returns a text that names the file system of the JVM that probably hangs; the caller frees it.
 * `libjvm` is a path in the JVM's root, or NULL.
 */
char *jvm_files_hung(const struct procfs *proc, const struct jvm *jvm,
		     const char *libjvm) _must_check_;

#endif
