/*
 * Taking what somebody writes to a FIFO at once, for us to read as slowly as we like: he may be
 * a JVM that stands still for as long as his bytes are not taken.  So a process of its own takes
 * them (aside.h) and keeps in memory what we have not read yet.  It goes on when we are stopped,
 * ends when we are killed, and holds nobody longer or in more memory than it was told.
 */
#ifndef JTOOL_BASE_RELAY_H
#define JTOOL_BASE_RELAY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

struct relay {
	int out; /* read here; the end is the end of what comes */
	pid_t child;
};

struct relay_limits {
	size_t bytes; /* that wait for us, at most */
	unsigned ms;  /* from the first byte to the last, at most; 0: no limit */
};

/*
 * Start.  from: O_NONBLOCK; the caller closes its own copy, or the writer never sees ours
 * closed.  Ends as drain_fifo() does.  0 or a negative errno.
 *
 * Beyond a limit, and when we stop reading, it hangs up, and the writer gets EPIPE.  But as long
 * as the FIFO has a name, others hold it open for reading (place.h), and he would wait for ever:
 * until it has none, what comes is thrown away.
 */
int relay_start(struct relay *r, int from, int end, const struct relay_limits *limits)
	_must_check_;

/*
 * Stop reading, and wait until it has ended.  0: all that came was passed on; -EFBIG: too much
 * waited; -ETIMEDOUT: it took too long; or another negative errno.
 */
int relay_end(struct relay *r) _must_check_;

#endif
