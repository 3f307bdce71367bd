/*
 * Detects a peer that stops in the middle of its data, or sends only a byte now and then: within
 * each period it must send STALL_BYTES or finish.
 */
#ifndef JTOOL_FILEIO_STALL_H
#define JTOOL_FILEIO_STALL_H

#include "base/deadline.h"

#define STALL_BYTES 65536

struct stall {
	struct deadline end; /* of the current period */
	unsigned ms;         /* the length of a period */
	uint64_t seen;       /* bytes at the start of the period */
};

struct stall stall_begin(unsigned ms);
/*
 * Returns true if the period has ended without enough progress; else begins the next one if there
 * was enough.  `bytes` is the total so far.  Call it only when no data is waiting: a process that
 * was itself stopped must not take that for the peer's silence.
 */
bool stall_is_late(struct stall *s, uint64_t bytes);

#endif
