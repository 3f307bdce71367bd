/*
 * The terminal while `jtool top` uses it: the alternate screen without a cursor, and keys that are
 * read one by one.  The terminal is restored however jtool ends, except by SIGKILL.
 */
#ifndef JTOOL_CMD_TOP_TOP_TERMINAL_H
#define JTOOL_CMD_TOP_TOP_TERMINAL_H

#include <stdbool.h>

#include "base/buf.h"

/* Returns whether stdin and stdout are a terminal that knows escape sequences. */
bool top_terminal_is_usable(void);

/* Enters the alternate screen and sets the terminal's modes.  Returns 0 or a negative errno. */
int top_terminal_enter(void) _must_check_;
/*
 * Returns whether this key suspends a program in a shell: Ctrl-Z, unless stty(1) has set another
 * key.
 */
bool top_terminal_is_suspend(char key);
/*
 * Switches to the alternate screen again, and sets the terminal's modes again.  Called after jtool
 * was stopped and continued, because a shell has used the terminal meanwhile.
 */
void top_terminal_resume(void);
/* Restores the terminal; does nothing without a preceding top_terminal_enter() or _resume(). */
void top_terminal_leave(void);

/*
 * Writes `text` to the terminal.  Returns false if only a part was written: a signal arrived while
 * the terminal did not accept data (^S), or the terminal was closed.
 */
bool top_terminal_write(const struct buf *text);

#endif
