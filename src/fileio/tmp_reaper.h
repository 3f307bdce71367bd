/*
 * A hidden name for an incomplete file.  A child process removes the file when jtool exits or is
 * killed.
 */
#ifndef JTOOL_FILEIO_TMP_REAPER_H
#define JTOOL_FILEIO_TMP_REAPER_H

#include <sys/types.h>

#include "base/util.h"

struct tmp_reaper {
	int dir_fd; /* directory of the hidden name; not owned */
	char *name; /* the hidden name; NULL: the child was not started */
	pid_t pid;
	int end_fd; /* socket to the child; the child ends when this socket is closed */
};

#define TMP_REAPER_INIT(dir_fd)      \
	{                            \
		dir_fd, NULL, -1, -1 \
	}

/*
 * Chooses the hidden name and starts the child; does nothing if the child runs already.  Returns 0
 * or -errno.
 */
int tmp_reaper_start(struct tmp_reaper *r) _must_check_;
/* Makes the child remove the file, and waits until the child has ended. */
void tmp_reaper_release(struct tmp_reaper *r);

#endif
