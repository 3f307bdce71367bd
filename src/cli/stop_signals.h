/* SIGINT and SIGTERM, which end a command that runs until it is stopped. */
#ifndef JTOOL_CLI_STOP_SIGNALS_H
#define JTOOL_CLI_STOP_SIGNALS_H

#include <signal.h>

/*
 * Sets *set to SIGINT and SIGTERM, but omits a signal that was ignored when jtool started.  For
 * example, a shell starts background jobs with SIGINT ignored.
 */
void stop_signals(sigset_t *set);

#endif
