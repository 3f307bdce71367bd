/*
 * Whether this library has ever changed the code of a class in the JVM.  HELLO tells the client,
 * which explains only once what a change costs.
 */
#ifndef JTOOL_AGENT_JVM_CODE_CHANGE_H
#define JTOOL_AGENT_JVM_CODE_CHANGE_H

#include <stdbool.h>

/* Call before a class is instrumented or replaced.  Any thread may. */
void ag_code_change_begins(void);
bool ag_code_has_changed(void);

#endif
