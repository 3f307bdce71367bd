/*
 * What a session itself brings into the heap: not the application's, so it is taken out of the
 * figures.  Nothing of it is tagged: from JDK 21 on HotSpot walks a heap without any tag a third
 * faster, because it asks its tag table for nothing then.
 */
#ifndef JTOOL_AGENT_JVM_OWN_H
#define JTOOL_AGENT_JVM_OWN_H

#include <stdint.h>

#include "jvm/heap.h"
#include "jvm/ti.h"

#define AG_OWN_MAX 48

struct ag_own {
	jobject objects[AG_OWN_MAX]; /* local references: they keep the objects there */
	uint32_t rows[AG_OWN_MAX];   /* the census rows that count them; the walk's to fill in */
	uint32_t n;
};

/* Add the agent's thread, and what the constructor of java.lang.Thread made for it alone. */
int ag_own_add_thread(struct ag_jvm *jvm, struct ag_own *own);
/* Add an object; takes the reference. */
int ag_own_add(struct ag_jvm *jvm, struct ag_own *own, jobject object);
/* Let go of all but the first n. */
void ag_own_forget(struct ag_jvm *jvm, struct ag_own *own, uint32_t n);

/* Take them out of their rows. */
int ag_own_subtract(struct ag_jvm *jvm, const struct ag_own *own, struct ag_census *census);

#endif
