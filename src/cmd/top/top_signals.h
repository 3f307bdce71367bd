/*
 * The signals that end, stop, continue or resize `jtool top`.  They are blocked except while top
 * waits, so that they do not interrupt other work.
 */
#ifndef JTOOL_CMD_TOP_TOP_SIGNALS_H
#define JTOOL_CMD_TOP_TOP_SIGNALS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "base/deadline.h"
#include "base/util.h"

/*
 * Blocks SIGINT and SIGTERM, which end top.  If `terminal` is true, also blocks SIGHUP and SIGQUIT,
 * which end top too, and SIGTSTP, SIGCONT and SIGWINCH.  A signal that jtool's parent ignored stays
 * ignored.
 */
void top_signals_begin(bool terminal);
void top_signals_end(void);

/*
 * Waits until a descriptor is ready, a signal arrives, or the deadline passes.  Returns the result
 * of poll(2).
 */
int top_signals_wait(struct pollfd *fds, size_t n, struct deadline until);

/*
 * Each function returns whether its signal has arrived.  The functions with `take` in their names
 * return true only once for a signal.
 */
bool top_signals_stop(void);         /* any signal that ends top */
bool top_signals_take_suspend(void); /* SIGTSTP */
bool top_signals_take_resume(void);  /* SIGCONT: the process was continued */
bool top_signals_take_resize(void);  /* SIGWINCH */

/*
 * Stops all processes of jtool's process group until the shell continues the group.  jtool must not
 * stop alone, because the shell waits until all processes of the group have stopped.  Does nothing
 * if jtool's parent ignored SIGTSTP, or if SIGCONT is pending.
 */
void top_signals_suspend(void);

#endif
