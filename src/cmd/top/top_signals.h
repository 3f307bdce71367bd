/*
 * The signals that end, stop or resize `top`.  They are blocked, except while it waits, so that
 * they interrupt nothing else.
 */
#ifndef JTOOL_CMD_TOP_TOP_SIGNALS_H
#define JTOOL_CMD_TOP_TOP_SIGNALS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "base/deadline.h"
#include "base/util.h"

/*
 * Blocks SIGINT and SIGTERM; with `terminal`, also SIGHUP and SIGQUIT, which end, too, and SIGTSTP,
 * SIGCONT and SIGWINCH.  Those that our parent ignored stay so.
 */
void top_signals_begin(bool terminal);
void top_signals_end(void);

/* Waits for the descriptors, a signal, or the deadline.  Returns what poll(2) returns. */
int top_signals_wait(struct pollfd *fds, size_t n, struct deadline until);

/* Return whether such a signal has arrived; all but the first function forget it. */
bool top_signals_stop(void);
bool top_signals_take_suspend(void);
bool top_signals_take_resume(void); /* the process was continued */
bool top_signals_take_resize(void);

/*
 * Stops the process group until it is continued; no effect if our parent ignored SIGTSTP, or if
 * SIGCONT is pending.  The whole group stops, because a shell waits for all of its processes.
 */
void top_signals_suspend(void);

#endif
