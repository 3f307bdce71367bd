/*
 * The signals by which a user ends what goes on until then: SIGINT and SIGTERM.
 */
#ifndef JTOOL_BASE_STOP_H
#define JTOOL_BASE_STOP_H

#include <signal.h>

/* Those of them that we were not started to ignore, as a background job of a script is. */
void stop_signals(sigset_t *set);

#endif
