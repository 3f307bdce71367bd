/* Copies a staged file, in which the JVM wrote a heap dump or flight recording, for the caller. */
#ifndef JTOOL_CMD_FETCH_H
#define JTOOL_CMD_FETCH_H

#include "fileio/atomic_file.h"
#include "cli/command.h"
#include "session/staging/staged_file.h"

/*
 * take() checks the file `fd` that the JVM wrote, before the file is copied.  `size` is the file's
 * size in bytes.  Returns 0 to permit the copy, or -1 with err set.
 */
struct fetch_check {
	int (*take)(void *arg, int fd, uint64_t size, struct err *err);
	void *arg;
};

/*
 * Copies the file `staged`, which the JVM wrote, to `out`.  The kind of `staged` is STAGED_RESULT.
 * Fails if `check` refuses the file, or if too little disk space would stay free (disk_room.h).
 * Returns 0 with the file's length in *size, or -1 with err set.  Does not commit `out`: the caller
 * must validate the copy first, because the JVM may change the file while it is copied.
 */
int fetch_result(struct staged_file *staged, struct atomic_file *out,
		 const struct fetch_check *check, uint64_t *size, struct err *err) _must_check_;

#endif
