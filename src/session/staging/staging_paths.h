/* Finds the directories of a target in which jtool tries to stage a file. */
#ifndef JTOOL_SESSION_STAGING_STAGING_PATHS_H
#define JTOOL_SESSION_STAGING_STAGING_PATHS_H

#include "attach/target_ns.h"

#define STAGING_PATHS_MAX 8

struct staging_paths {
	/* Absolute paths in the target's root, without symbolic links; the preferred one first. */
	char *dirs[STAGING_PATHS_MAX];
	/*
	 * Set by staging_paths_sort(): another user could replace the directory or one above it, or
	 * rename what is in it.
	 */
	bool exposed[STAGING_PATHS_MAX];
	size_t n;
	/* the target's effective user id in its own user namespace, as shown in its container */
	uid_t uid;
	uid_t root; /* the id, in jtool's user namespace, of the root user of that namespace */
};

/*
 * Finds the directories of the target, in this order: the JVM's tmp directory, /tmp, /var/tmp,
 * /dev/shm, /run, the working directory, the home directory.  Does not check whether a file can be
 * staged there.  Call this function while jtool still has its own user and group ids.
 */
void staging_paths_find(const struct target_ns *ns, struct staging_paths *w);
/*
 * Like staging_paths_find(), but finds only /tmp and the working directory, which are the
 * directories in which HotSpot looks for a trigger file.
 */
void staging_paths_find_attach(const struct target_ns *ns, struct staging_paths *w);

/*
 * Sorts the directories: those in which another user could replace the private directory come last.
 * Among the others, and among these, if by_memory is set, those on disks come before those in
 * memory, or, if memory_first is set, after them.  Sets `exposed`.  root_fd is the target's root
 * directory.  Call this function with the target's ids.
 */
void staging_paths_sort(struct staging_paths *w, int root_fd, bool by_memory, bool memory_first);

#endif
