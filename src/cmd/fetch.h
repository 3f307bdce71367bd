/* Copies to the caller a heap dump or flight recording that the JVM wrote to a staged file. */
#ifndef JTOOL_CMD_FETCH_H
#define JTOOL_CMD_FETCH_H

#include "fileio/atomic_file.h"
#include "cli/command.h"
#include "session/staging/staged_file.h"

/*
 * Copies the staged file (STAGED_RESULT) to `out` with bounded memory.  Returns 0 with the length
 * in *size, or -1 with err set.  Does not commit `out`: the caller validates it first.
 */
int fetch_result(struct staged_file *staged, struct atomic_file *out, uint64_t *size,
		 struct err *err) _must_check_;

#endif
