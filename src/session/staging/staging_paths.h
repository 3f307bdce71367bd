/* Finds the directories of a target in which jtool tries to stage a file. */
#ifndef JTOOL_SESSION_STAGING_STAGING_PATHS_H
#define JTOOL_SESSION_STAGING_STAGING_PATHS_H

#include "attach/target_ns.h"

#define STAGING_PATHS_MAX 8

struct staging_paths {
	/* Absolute paths in the target's root, without symbolic links; the preferred one first. */
	char *dirs[STAGING_PATHS_MAX];
	size_t n;
	uid_t uid; /* the target's effective user id in its own user namespace */
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
void staging_paths_release(struct staging_paths *w);

#endif
