/*
 * The private directory DIR/.jtool-UID-NSPID and what is in it.  Only the keeper works here,
 * with the target's ids, so that nothing can be reached which the target could not reach.
 *
 * Whoever uses the directory holds a shared flock(2) on it; whoever gets the exclusive one is
 * the last and removes it.  Names that begin with a dot are for the moment: found without a
 * user, they are leftovers of a keeper that was killed.
 *
 * What the target writes has a directory of its own, DIR/.jtool-UID-NSPID-RANDOM.  It goes when
 * its one user does, with whatever the JVM has put beside its file; and a JVM that comes to its
 * request only then finds no directory, and cannot make a file that nobody waits for.
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
	char name[48];   /* of the directory */
	char socket[32];
	const char *file;
	const char *stem; /* older files of this stem go, too; NULL: none */
	bool file_is_ours; /* we put it there, it was not there before */
};

/* With `alone` for a directory that nobody else uses; the file's name begins with a dot then. */
void nest_init(struct nest *n, uid_t uid, pid_t nspid, const char *file, bool alone);

/*
 * Make the directory in parent_fd, or use the one that is there, and lock it.  These return
 * NULL when done, else why not.
 */
const char *nest_enter(struct nest *n) _must_check_;

/* Put the file there whole or not at all; one that is there and equal is used. */
const char *nest_put_file(struct nest *n, const void *data, size_t len) _must_check_;

/*
 * Make a FIFO of the file's name.  *fd is its read end, O_NONBLOCK, opened before anybody can
 * have been told the name.
 */
const char *nest_put_fifo(const struct nest *n, int *fd) _must_check_;

/*
 * Open the file for reading: a descriptor, -ENOTUNIQ when it is no regular file of the target's
 * user, or another negative errno.
 */
int nest_open_file(const struct nest *n) _must_check_;

/*
 * Remove the socket and, when nobody else uses the directory, what is in it and itself, then
 * leftovers of others beside it.  The file goes only when `discard` is set.
 */
void nest_leave(struct nest *n, bool discard);

#endif
