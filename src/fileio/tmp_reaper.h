/* A hidden name for an incomplete file.  A child process removes it when we exit or are killed. */
#ifndef JTOOL_FILEIO_TMP_REAPER_H
#define JTOOL_FILEIO_TMP_REAPER_H

#include <sys/types.h>

#include "base/util.h"

struct tmp_reaper {
	int dir_fd; /* directory of the hidden name; not owned */
	char *name; /* the hidden name; NULL: not started yet */
	pid_t pid;
	int end_fd; /* the child waits until this is closed */
};

#define TMP_REAPER_INIT(dir_fd)      \
	{                            \
		dir_fd, NULL, -1, -1 \
	}

/* Chooses the name and starts the child, unless the child runs already.  Returns 0 or -errno. */
int tmp_reaper_start(struct tmp_reaper *r) _must_check_;
/* Makes the child remove the file, and waits until the child has ended. */
void tmp_reaper_release(struct tmp_reaper *r);

#endif
