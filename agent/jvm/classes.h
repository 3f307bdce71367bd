/*
 * Loaded classes, and what there is to tell of one: signature, loader, module.
 */
#ifndef JTOOL_AGENT_JVM_CLASSES_H
#define JTOOL_AGENT_JVM_CLASSES_H

#include <stdint.h>

#include "base/map.h"
#include "jvm/ti.h"

struct ag_classes {
	jclass *list; /* local references, owned by the frame that was open; JVMTI's memory */
	uint32_t n;
};

int ag_classes_get(struct ag_jvm *jvm, struct ag_classes *classes);
/* Free the list and let the classes go: a reference keeps a class from being unloaded. */
void ag_classes_release(struct ag_jvm *jvm, struct ag_classes *classes);

/* "Ljava/lang/String;": JVMTI's memory, or NULL with the error recorded. */
char *ag_class_signature(struct ag_jvm *jvm, jclass class);

/* A class's loader and its module: local references, or NULL (bootstrap; no modules before 9). */
int ag_class_loader(struct ag_jvm *jvm, jclass class, jobject *loader);
int ag_class_module(struct ag_jvm *jvm, jclass class, jobject *module);

/* What else there is: modifiers as JVMS 4.1 has them, WIRE_CLASS_* but for what patches. */
int ag_class_traits(struct ag_jvm *jvm, jclass class, const char *signature, jint *modifiers,
		    uint32_t *traits);

/* A String in modified UTF-8, with a NUL behind it; a long one is cut. */
int ag_string_copy(struct ag_jvm *jvm, jstring s, char *text, size_t size);

/*
 * The String in the field `name` of what extends Object directly (ClassLoader, Module), in
 * modified UTF-8; "" when there is no such field or it is null.  Long names are cut.
 */
#define AG_NAME_MAX (3 * 512 + 1)
int ag_object_name(struct ag_jvm *jvm, jobject object, char name[AG_NAME_MAX]);

/* Objects numbered 1, 2, … as they are first met; holds local references to them. */
struct ag_ids {
	struct ag_map map; /* identity hash → number */
	jobject *refs;     /* refs[number] */
	uint32_t n, cap;
	uint32_t last;     /* the number that was asked for last; 0: none */
};

/* The number of an object, and whether it is new.  NULL is number 0.  Takes the reference. */
int ag_ids_take(struct ag_jvm *jvm, struct ag_ids *ids, jobject object, uint32_t *id, bool *new);
void ag_ids_release(struct ag_jvm *jvm, struct ag_ids *ids);

#endif
