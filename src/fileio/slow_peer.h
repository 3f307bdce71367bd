/*
 * Detects a peer that stops in the middle of its data, or sends only a byte now and then: within
 * each period the peer must send STALL_BYTES or finish.  A new period begins as soon as STALL_BYTES
 * have arrived.
 */
#ifndef JTOOL_FILEIO_SLOW_PEER_H
#define JTOOL_FILEIO_SLOW_PEER_H

#include "base/deadline.h"

#define STALL_BYTES 65536

struct stall {
	struct deadline end; /* end of the current period */
	unsigned ms;         /* the length of a period */
	uint64_t seen;       /* total of bytes received when the current period began */
};

struct stall stall_begin(unsigned ms);
/*
 * Returns true if the period has ended without enough progress.  If enough bytes have arrived,
 * begins the next period.  `bytes` is the total received so far.  Call it only when no data is
 * waiting: if jtool itself was stopped, the peer's data is waiting and the peer was not silent.
 */
bool stall_is_late(struct stall *s, uint64_t bytes);

#endif
