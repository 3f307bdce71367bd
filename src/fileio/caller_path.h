/*
 * Resolves the paths of output files that jtool's caller has given.
 *
 * A path is walked component by component.  A symbolic link is followed only if it belongs to root
 * or to the caller, because a link of another user could lead a privileged caller to any file.  The
 * links of /proc are followed whoever owns them, because the kernel defines their targets.  The
 * result consists of descriptors: they refer to the file that was found, even if another file gets
 * its name later.
 */
#ifndef JTOOL_FILEIO_CALLER_PATH_H
#define JTOOL_FILEIO_CALLER_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/util.h"

struct caller_path {
	int dir_fd;     /* O_PATH descriptor of the file's directory */
	char *name;     /* name of the file in dir_fd */
	int fd;         /* O_PATH descriptor of the file, which is not a link; -1: no such file */
	struct stat st; /* attributes of the file; valid if fd is not -1 */
	bool was_link;  /* the last component of the caller's path is a link, which was followed */
};

#define CALLER_PATH_INIT { .dir_fd = -1, .fd = -1 }

/*
 * Resolves a path to a file.  The file need not exist, but its directory must exist.  Returns 0; or
 * -ENOTUNIQ if the path has a link of another user; or another negative errno.
 */
int caller_path_open(struct caller_path *p, const char *path) _must_check_;
void caller_path_release(struct caller_path *p);

/*
 * Resolves a path to a directory, as caller_path_open() does for a file.  Returns an O_PATH
 * descriptor or a negative errno.
 */
int caller_path_open_dir(const char *path) _must_check_;

/* Returns a message for a negative errno that these functions have returned. */
const char *caller_path_error(int error);

/*
 * If the path names a descriptor, such as /dev/stdout or /dev/fd/63, returns the number of the
 * descriptor; otherwise returns -1.  jtool's caller has passed the descriptor to jtool, so the file
 * of the descriptor needs no check.
 */
int caller_path_descriptor(const char *path);

#endif
