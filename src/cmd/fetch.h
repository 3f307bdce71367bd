/*
 * Bringing to the caller what the JVM can only write to a file of its own: a heap dump, a
 * flight recording.
 */
#ifndef JTOOL_CMD_FETCH_H
#define JTOOL_CMD_FETCH_H

#include "base/outfile.h"
#include "cmd.h"
#include "session/place.h"

/*
 * Copy what the target has written in a place (PLACE_RESULT) to the caller's file, as fast as it
 * goes and without holding it in memory; *size is its length.  -1 with err set.  The file is not
 * committed: the caller looks first whether it is whole.
 */
int fetch_result(struct place *p, struct outfile *out, uint64_t *size, struct err *err)
	_must_check_;

#endif
