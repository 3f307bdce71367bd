/*
 * The roster: the loaded classes as the client was told of them, by number, with the loaders,
 * modules and code sources that were told on the way.  It is the session's: its references
 * outlive a request, and keep the classes from being unloaded for so long.
 */
#ifndef JTOOL_AGENT_JVM_ROSTER_H
#define JTOOL_AGENT_JVM_ROSTER_H

#include "jvm/classes.h"

struct ag_roster {
	struct ag_classes classes;
	struct ag_ids loaders, modules, sources;
};

/* The session's roster, made empty when there is none yet; NULL with the error recorded. */
struct ag_roster *ag_roster(struct ag_jvm *jvm);
/* A class by its number: the roster's reference, or NULL with the error recorded. */
jclass ag_roster_class(struct ag_jvm *jvm, uint32_t number);
/* Number n more classes behind the last; takes the references.  NULL: a class that is gone. */
int ag_roster_extend(struct ag_jvm *jvm, const jclass *more, uint32_t n);
void ag_roster_release(struct ag_jvm *jvm);

#endif
