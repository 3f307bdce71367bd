/*
 * Looks into another user's process without CAP_SYS_PTRACE.
 *
 * For most files in /proc/PID, the kernel calls ptrace_may_access() with PTRACE_MODE_FSCREDS, which
 * compares the file-system ids of the caller with all ids of the process.  setfsuid(2) and
 * setfsgid(2) change the caller's file-system ids.  These two calls need CAP_SETUID and CAP_SETGID,
 * which container runtimes grant by default; they do not grant CAP_SYS_PTRACE by default.  The
 * caller's other ids do not change, so the user of the process can neither signal nor trace the
 * caller.  Only the calling thread is affected.
 */
#ifndef JTOOL_PROC_FS_IDS_H
#define JTOOL_PROC_FS_IDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/util.h"

struct fs_ids {
	uid_t uid;
	gid_t gid;
};

/*
 * Changes the calling thread's file-system ids to uid and gid.  Returns true, with the previous ids
 * in *saved.  Returns false, with nothing changed, if the thread has these ids already or is not
 * permitted to take them.
 */
bool fs_ids_take(uid_t uid, gid_t gid, struct fs_ids *saved) _must_check_;

/* Restores the ids that fs_ids_take() has saved; this is always permitted.  Keeps errno. */
void fs_ids_restore(const struct fs_ids *saved);

#endif
