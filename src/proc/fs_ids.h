/*
 * Looks into another user's process without CAP_SYS_PTRACE.
 *
 * The kernel protects most of /proc/PID by ptrace_may_access() with PTRACE_MODE_FSCREDS.  This
 * check compares the caller's file-system ids, which setfsuid(2) and setfsgid(2) change, with all
 * ids of the process.  The two calls need CAP_SETUID and CAP_SETGID, which container runtimes grant
 * by default, unlike CAP_SYS_PTRACE.  The other ids stay as they are, so the user of the process
 * can neither signal nor trace the caller.  Only the calling thread is affected.
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
 * Takes these file-system ids.  Returns true with the previous ids in *saved.  Returns false, with
 * nothing changed, if the caller has these ids already or is not permitted to take them.
 */
bool fs_ids_take(uid_t uid, gid_t gid, struct fs_ids *saved) _must_check_;

/* Restores the ids that fs_ids_take() has saved; this is always permitted.  Keeps errno. */
void fs_ids_restore(const struct fs_ids *saved);

#endif
