/*
 * A hidden name in a directory for what is not whole yet, and a process that removes what has it
 * when we end, however we end.
 */
#ifndef JTOOL_BASE_OUTGUARD_H
#define JTOOL_BASE_OUTGUARD_H

#include <sys/types.h>

#include "base/util.h"

struct outguard {
	int dir_fd; /* its owner's */
	char *name; /* NULL: not started yet */
	pid_t pid;
	int end_fd; /* the process waits for the end of this */
};

#define OUTGUARD_INIT(dir_fd) { dir_fd, NULL, -1, -1 }

/* Choose the name and start the process, unless that was done.  0 or a negative errno. */
int outguard_start(struct outguard *g) _must_check_;
/* Have it removed at once, and wait for that. */
void outguard_release(struct outguard *g);

#endif
