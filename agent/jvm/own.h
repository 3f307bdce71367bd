/*
 * What a session itself brings into the heap: not the application's, so nobody counts it.
 */
#ifndef JTOOL_AGENT_JVM_OWN_H
#define JTOOL_AGENT_JVM_OWN_H

#include "jvm/ti.h"

/* Objects with a negative tag are the agent's own. */
#define AG_TAG_OWN ((jlong)-1)

/* Tag the agent's thread, and what the constructor of java.lang.Thread made for it alone. */
int ag_own_tag(struct ag_jvm *jvm);

#endif
