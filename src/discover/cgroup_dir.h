/* A control group (cgroup version 1 or 2) as a directory of files.  Used by cgroup.c only. */
#ifndef JTOOL_DISCOVER_CGROUP_DIR_H
#define JTOOL_DISCOVER_CGROUP_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

/* A group of one hierarchy, as a directory that jtool can read. */
struct group {
	char *dir;  /* path of the group's directory; NULL: no mount shows the group */
	char *path; /* path of the group in its hierarchy; "" is the hierarchy's root */
	size_t top; /* length of the part of dir that is the hierarchy's mount point */
	bool is_v2;
	/*
	 * the root directory from which the path `dir` starts: a descriptor of another process's
	 * root directory; or AT_FDCWD, which stands for jtool's own
	 */
	int root_fd;
};

/*
 * Finds the group of a controller ("memory", "cpu") in the controller's hierarchy of version 1 or
 * in the hierarchy of version 2.  `mounts` is the text of a mountinfo file, and `groups` the text
 * of /proc/PID/cgroup.  group_find_below() looks for the group's directory below the directory
 * root_fd, which is the root of another process; group_find() looks below jtool's own root.
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
 * group_read_numbers() reads at most `max` numbers of a small file.  A missing number, or a word
 * such as "max", becomes -1.  Returns the number of fields that were read; 0 if the file cannot be
 * read.  group_read_number() returns the first number of the file, or -1.
 */
size_t group_read_numbers(const struct group *g, const char *name, int64_t *numbers, size_t max);
int64_t group_read_number(const struct group *g, const char *name);

/* Returns true if the group `path` is the group `top` or below it.  Both paths are absolute. */
bool group_is_below(const char *path, const char *top);

#endif
