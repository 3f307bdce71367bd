/* SIGINT and SIGTERM, which end a command that runs until it is stopped. */
#ifndef JTOOL_CLI_STOP_SIGNALS_H
#define JTOOL_CLI_STOP_SIGNALS_H

#include <signal.h>

/*
 * Sets *set to SIGINT and SIGTERM, without those that jtool's parent ignored (in a shell's
 * background job).
 */
void stop_signals(sigset_t *set);

#endif
