/* The signals that end a command which runs until it is stopped: SIGINT and SIGTERM. */
#ifndef JTOOL_CLI_STOP_SIGNALS_H
#define JTOOL_CLI_STOP_SIGNALS_H

#include <signal.h>

/* Sets *set to these signals without those that our parent ignored (a shell's background job). */
void stop_signals(sigset_t *set);

#endif
