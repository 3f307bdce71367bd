/*
 * Remembers whether this library has ever changed the code of a class in the JVM.  HELLO reports
 * this to the client, which explains the cost of a change only before the first one.
 */
#ifndef JTOOL_AGENT_JVM_CODE_CHANGE_H
#define JTOOL_AGENT_JVM_CODE_CHANGE_H

#include <stdbool.h>

/* Remembers a change.  Call it before a class is instrumented or replaced, on any thread. */
void ag_code_change_begins(void);
bool ag_code_has_changed(void);

#endif
