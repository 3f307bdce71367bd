/*
 * Resolves output paths of the caller.
 *
 * A path is walked component by component.  A symbolic link is followed if it belongs to root or to
 * the caller, because a link of another user could lead a privileged caller to any file.  The links
 * of /proc are the kernel's own and are followed.  The result consists of descriptors, which refer
 * to the file that was found even if names change later.
 */
#ifndef JTOOL_FILEIO_CALLER_PATH_H
#define JTOOL_FILEIO_CALLER_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/util.h"

struct caller_path {
	int dir_fd;     /* O_PATH; the directory of the file */
	char *name;     /* name of the file in dir_fd */
	int fd;         /* O_PATH; the file, which is not a link; -1: no such file */
	struct stat st; /* attributes of the file; valid if fd is not -1 */
	bool was_link;  /* the last component of the path is a link */
};

#define CALLER_PATH_INIT { .dir_fd = -1, .fd = -1 }

/*
 * Resolves a path to a file.  The file need not exist, but its directory must.  Returns 0 or a
 * negative errno: -ENOTUNIQ if the path has a link of another user.
 */
int caller_path_open(struct caller_path *p, const char *path) _must_check_;
void caller_path_release(struct caller_path *p);

/*
 * Resolves a path to a directory, as caller_path_open() does for a file.  Returns an O_PATH
 * descriptor or a negative errno.
 */
int caller_path_open_dir(const char *path) _must_check_;

/* Returns a text for a negative errno of these functions. */
const char *caller_path_error(int error);

/*
 * If the path is one such as /dev/stdout or /dev/fd/63, returns the number of the descriptor;
 * otherwise -1.  The caller of jtool has passed this descriptor, so its file needs no check.
 */
int caller_path_descriptor(const char *path);

#endif
