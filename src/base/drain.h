/*
 * Taking what somebody writes to a FIFO into a file, at once: he may be a JVM that stands still
 * for as long as his bytes are not taken.  So a process of its own does it (aside.h), which goes
 * on when we are stopped or wait for a terminal, and ends when we are killed.
 */
#ifndef JTOOL_BASE_DRAIN_H
#define JTOOL_BASE_DRAIN_H

#include "base/util.h"

/*
 * Until the FIFO's writers have come and gone, or `end` hangs up (a pipe) and nothing is left:
 * that they do not come at all cannot be seen at the FIFO.  from: O_NONBLOCK.  to: a regular
 * file, written at its position.  progress: what to call it on the terminal that stderr is;
 * NULL: silently.
 *
 * 0 or a negative errno: the file could not take it, and who writes still does.
 */
int drain_fifo(int from, int to, int end, const char *progress) _must_check_;

#endif
