/* SIGINT and SIGTERM, which end a command that runs until it is stopped. */
#ifndef JTOOL_CLI_STOP_SIGNALS_H
#define JTOOL_CLI_STOP_SIGNALS_H

#include <signal.h>

/*
 * Sets *set to SIGINT and SIGTERM, but omits a signal that was ignored when jtool started.  For
 * example, a shell starts background jobs with SIGINT ignored.
 */
void stop_signals(sigset_t *set);
/* Adds a signal to the set, unless it was ignored when jtool started. */
void stop_signals_add(sigset_t *set, int sig);

#endif
