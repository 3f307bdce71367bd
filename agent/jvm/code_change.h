/*
 * Remembers whether this library has ever changed the code of a class in the JVM.  The agent
 * reports this in HELLO, because the client explains the cost of a change only before the first.
 */
#ifndef JTOOL_AGENT_JVM_CODE_CHANGE_H
#define JTOOL_AGENT_JVM_CODE_CHANGE_H

#include <stdbool.h>

/* Remembers a change.  Call it, on any thread, before a class is instrumented or replaced. */
void ag_code_change_begins(void);
bool ag_code_has_changed(void);

#endif
