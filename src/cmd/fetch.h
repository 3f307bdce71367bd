/* Copies to the caller a heap dump or flight recording that the JVM wrote to a staged file. */
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
 * Copies the file that the JVM wrote (`staged`, of the kind STAGED_RESULT) to `out` with little
 * memory, if `check` permits it and enough space stays free (disk_room.h).  Returns 0 with the
 * length in *size, or -1 with err set.  Does not commit `out`: the caller validates the copy first,
 * because the JVM may change the file during the copy.
 */
int fetch_result(struct staged_file *staged, struct atomic_file *out,
		 const struct fetch_check *check, uint64_t *size, struct err *err) _must_check_;

#endif
