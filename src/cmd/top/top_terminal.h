/*
 * The terminal while `top` has it: the alternate screen, without a cursor, and keys that arrive one
 * by one.  It is restored in every case but SIGKILL.
 */
#ifndef JTOOL_CMD_TOP_TOP_TERMINAL_H
#define JTOOL_CMD_TOP_TOP_TERMINAL_H

#include <stdbool.h>

#include "base/buf.h"

/* Returns whether stdin and stdout are a terminal that understands escape sequences. */
bool top_terminal_is_usable(void);

/* Returns 0 or a negative errno. */
int top_terminal_enter(void) _must_check_;
/* Returns whether this key suspends a program in a shell: Ctrl-Z, unless stty changed it. */
bool top_terminal_is_suspend(char key);
/* Takes the terminal again from a shell, which had it while the process was stopped. */
void top_terminal_resume(void);
/* Restores the terminal; no effect if it was not entered. */
void top_terminal_leave(void);

/*
 * Writes to the terminal.  Returns false if a signal arrives while the terminal takes nothing (^S):
 * then it has only a part.
 */
bool top_terminal_write(const struct buf *text);

#endif
