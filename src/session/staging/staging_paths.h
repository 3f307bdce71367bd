/* The directories of a target's file system in which a file may be staged. */
#ifndef JTOOL_SESSION_STAGING_STAGING_PATHS_H
#define JTOOL_SESSION_STAGING_STAGING_PATHS_H

#include "attach/target_ns.h"

#define STAGING_PATHS_MAX 8

struct staging_paths {
	/* Absolute paths in the target's root, without symbolic links, in order of preference. */
	char *dirs[STAGING_PATHS_MAX];
	size_t n;
	uid_t uid; /* the target's effective user id in its own user namespace */
};

/*
 * Finds the target's tmp directory, /tmp, /var/tmp, /dev/shm, /run, working directory and home.
 * Does not check whether a file can be staged in these directories.  Call this function with
 * jtool's own rights.
 */
void staging_paths_find(const struct target_ns *ns, struct staging_paths *w);
/*
 * Finds the directories in which HotSpot itself looks for a trigger file: /tmp and the working
 * directory.  Otherwise as staging_paths_find().
 */
void staging_paths_find_attach(const struct target_ns *ns, struct staging_paths *w);
void staging_paths_release(struct staging_paths *w);

#endif
