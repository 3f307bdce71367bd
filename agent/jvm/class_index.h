/*
 * The session's class index: the loaded classes by the numbers that the client uses, and their
 * loaders, modules and code sources.  The references in the index prevent the classes from being
 * unloaded.
 */
#ifndef JTOOL_AGENT_JVM_CLASS_INDEX_H
#define JTOOL_AGENT_JVM_CLASS_INDEX_H

#include "jvm/classes.h"

struct ag_class_index {
	struct ag_classes classes;
	struct ag_ids loaders, modules, sources;
};

/* Returns the class index, creating it if necessary, or NULL with the error recorded. */
struct ag_class_index *ag_class_index(struct ag_jvm *jvm);
/*
 * Returns the class with this number, counted from 0, or NULL with the error recorded.  The index
 * owns the returned reference.
 */
jclass ag_class_index_class(struct ag_jvm *jvm, uint32_t number);
/*
 * Appends n classes.  On success, the index takes ownership of their references.  A NULL element
 * stands for an unloaded class.
 */
int ag_class_index_extend(struct ag_jvm *jvm, const jclass *more, uint32_t n);
void ag_class_index_release(struct ag_jvm *jvm);

#endif
