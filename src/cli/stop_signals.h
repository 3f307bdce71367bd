/* SIGINT and SIGTERM, which end a command that runs until it is stopped. */
#ifndef JTOOL_CLI_STOP_SIGNALS_H
#define JTOOL_CLI_STOP_SIGNALS_H

#include <signal.h>

/*
 * Sets *set to SIGINT and SIGTERM, but without a signal that jtool ignores because its parent did,
 * as a shell does for background jobs.
 */
void stop_signals(sigset_t *set);

#endif
