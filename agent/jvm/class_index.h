/*
 * The session's class index: a list of the loaded classes, and the numbers of their loaders,
 * modules and code sources.  The client names a class by its number in the list.  The index has a
 * reference to each class, so that the class is not unloaded.
 */
#ifndef JTOOL_AGENT_JVM_CLASS_INDEX_H
#define JTOOL_AGENT_JVM_CLASS_INDEX_H

#include "jvm/classes.h"

struct ag_class_index {
	struct ag_classes classes;
	struct ag_ids loaders, modules, sources;
};

/* Returns the class index, which is created if there is none; or NULL with the error recorded. */
struct ag_class_index *ag_class_index(struct ag_jvm *jvm);
/*
 * Returns the class with this number, counted from 0, or NULL with the error recorded.  The index
 * owns the returned reference.
 */
jclass ag_class_index_class(struct ag_jvm *jvm, uint32_t number);
/*
 * Appends the n classes in `more`.  On success, the index takes ownership of their references.  An
 * element that is NULL stands for an unloaded class.
 */
int ag_class_index_extend(struct ag_jvm *jvm, const jclass *more, uint32_t n);
void ag_class_index_release(struct ag_jvm *jvm);

#endif
