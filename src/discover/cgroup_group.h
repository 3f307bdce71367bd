/* A control group as a directory of files, in version 1 or 2.  For cgroup.c only. */
#ifndef JTOOL_DISCOVER_CGROUP_GROUP_H
#define JTOOL_DISCOVER_CGROUP_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

/* A group of one hierarchy, as a directory that we can read. */
struct group {
	char *dir;  /* NULL: not visible */
	char *path; /* in the hierarchy; "" is its root */
	size_t top; /* length of the hierarchy's mount point in dir */
	bool is_v2;
	int root_fd; /* the root that dir is below, of another process; AT_FDCWD: ours */
};

/*
 * Finds the group of a controller ("memory", "cpu"), in its hierarchy of version 1 or in that of
 * version 2, from the texts of mountinfo and of /proc/PID/cgroup.  The directory is below the root
 * that root_fd is, or below ours (AT_FDCWD).
 */
struct group group_find_below(int root_fd, const char *mounts, const char *groups,
			      const char *controller);
struct group group_find(const char *mounts, const char *groups, const char *controller);
void group_release(struct group *g);

/* Changes *g to the parent group; returns false at the top. */
bool group_go_up(struct group *g);

/* Opens a file of the group.  Returns a descriptor or a negative errno. */
int group_open(const struct group *g, const char *name) _must_check_;
/*
 * Reads the numbers of a small file; -1 for a missing one or a word such as "max".  Returns the
 * number of fields.
 */
size_t group_read_numbers(const struct group *g, const char *name, int64_t *numbers, size_t max);
int64_t group_read_number(const struct group *g, const char *name);

/* Returns whether `path` is the group at the absolute path `top` or below it. */
bool group_is_below(const char *path, const char *top);

#endif
