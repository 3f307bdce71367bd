/*
 * The private directory DIR/.jtool-UID-NSPID and what is in it.  Only the keeper works here,
 * with the target's ids, so that nothing can be reached which the target could not reach.
 *
 * Whoever uses the directory holds a shared flock(2) on it; whoever gets the exclusive one is
 * the last and removes it.  Names that begin with a dot are for the moment: found without a
 * user, they are leftovers of a keeper that was killed.
 */
#ifndef JTOOL_SESSION_NEST_H
#define JTOOL_SESSION_NEST_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/util.h"

struct nest {
	int parent_fd; /* O_PATH; -1: not chosen yet */
	int dir_fd;    /* locked; -1: not entered */
	char prefix[24]; /* ".jtool-UID-" */
	char name[40];   /* of the directory */
	char socket[32];
	const char *file;
	const char *stem; /* older files of this stem go, too; NULL: none */
	bool file_is_ours; /* we put it there, it was not there before */
};

void nest_init(struct nest *n, uid_t uid, pid_t nspid, const char *file);

/*
 * Make the directory in parent_fd, or use the one that is there, and lock it.  These return
 * NULL when done, else why not.
 */
const char *nest_enter(struct nest *n) _must_check_;

/* Put the file there whole or not at all; one that is there and equal is used. */
const char *nest_put_file(struct nest *n, const void *data, size_t len) _must_check_;

/*
 * Remove the socket and, when nobody else uses the directory, what is in it and itself, then
 * leftovers of others beside it.  The file goes only when `discard` is set.
 */
void nest_leave(struct nest *n, bool discard);

#endif
