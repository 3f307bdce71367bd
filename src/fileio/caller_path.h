/*
 * Resolves output paths of the caller.
 *
 * A path is walked component by component.  A symbolic link is followed if it belongs to root or to
 * the caller: a link of another user could lead a privileged caller to any file.  The links of
 * /proc are the kernel's own and are followed.  The result consists of descriptors, so it still
 * refers to the file that was found if names change.
 */
#ifndef JTOOL_FILEIO_CALLER_PATH_H
#define JTOOL_FILEIO_CALLER_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/util.h"

struct caller_path {
	int dir_fd;     /* O_PATH; the directory of the file */
	char *name;     /* the file's name in it */
	int fd;         /* O_PATH; the file itself, which is not a link; -1: it does not exist */
	struct stat st; /* of fd */
	bool was_link;  /* the last component of the path is a link */
};

#define CALLER_PATH_INIT { .dir_fd = -1, .fd = -1 }

/*
 * Finds the file of a path, which may not exist in an existing directory.  Returns 0 or a negative
 * errno: -ENOTUNIQ for a link of another user.
 */
int caller_path_open(struct caller_path *p, const char *path) _must_check_;
void caller_path_release(struct caller_path *p);

/* Opens a directory in the same way.  Returns an O_PATH descriptor or a negative errno. */
int caller_path_open_dir(const char *path) _must_check_;

/* Returns the text for an error of these functions. */
const char *caller_path_error(int error);

/*
 * Returns the number of the descriptor that a path such as /dev/stdout or /dev/fd/63 names; -1 if
 * it names none.  The caller has passed this descriptor, so its file needs no check.
 */
int caller_path_descriptor(const char *path);

#endif
