/* Loaded classes and their properties: signature, loader, module, modifiers. */
#ifndef JTOOL_AGENT_JVM_CLASSES_H
#define JTOOL_AGENT_JVM_CLASSES_H

#include <stdint.h>

#include "util/class_map.h"
#include "jvm/jvmti.h"

struct ag_classes {
	jclass *list; /* JVMTI memory; local references, created by ag_classes_get() */
	uint32_t n;
};

int ag_classes_get(struct ag_jvm *jvm, struct ag_classes *classes);
/* Frees the list and deletes its references, which prevented the classes from being unloaded. */
void ag_classes_release(struct ag_jvm *jvm, struct ag_classes *classes);

/* Returns a signature such as "La/B;" in JVMTI memory; or NULL with the error recorded. */
char *ag_class_signature(struct ag_jvm *jvm, jclass class);

/*
 * Store a local reference to the loader or module of a class.  NULL stands for the boot loader.
 * Before JDK 9 there are no modules, and *module becomes NULL.
 */
int ag_class_loader(struct ag_jvm *jvm, jclass class, jobject *loader);
int ag_class_module(struct ag_jvm *jvm, jclass class, jobject *module);
/* Counts the listed classes of the boot loader, which never unloads a class. */
int ag_classes_count_boot(struct ag_jvm *jvm, const struct ag_classes *list, uint32_t *n);

/*
 * For a ClassFileLoadHook: returns true if the JVM has called the hook for `class` itself.  While
 * the JVM redefines a class, it may load a new class on the same thread, and call the hook with the
 * redefined class but with the name, loader and bytes of the new class (see is_wanted() in
 * capture.c).  Returns `unknown` if GetClassLoader fails.  Returns false if an exception is
 * pending, because then JNI must not be called; the capture of another session throws such an
 * exception to make the JVM abandon the retransformation.
 */
bool ag_class_is_hooked(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject loader, bool unknown);

/* Stores the modifiers (JVMS 4.1) and the WIRE_CLASS_* flags except WIRE_CLASS_PATCHED. */
int ag_class_traits(struct ag_jvm *jvm, jclass class, const char *signature, jint *modifiers,
		    uint32_t *traits);

/*
 * Copies a String to `text` as modified UTF-8 with a NUL.  Truncates the text so that it has at
 * most `size` bytes, including the NUL.
 */
int ag_string_copy(struct ag_jvm *jvm, jstring s, char *text, size_t size);

/*
 * Copies the String in the field `name` of a ClassLoader, a Module or a similar object.  Looks for
 * the field in the object's base class, which is the superclass that extends Object directly.
 * Stores "" if the base class has no such field, or if the field is null.
 */
#define AG_NAME_MAX (3 * 512 + 1)
int ag_object_name(struct ag_jvm *jvm, jobject object, char name[AG_NAME_MAX]);

/* Objects numbered 1, 2, … in the order of their first use; holds local references to them. */
struct ag_ids {
	struct ag_class_map map; /* identity hash → number */
	jobject *refs;     /* local references, by number */
	uint32_t n, cap;
	uint32_t last;     /* the number that was returned last; 0: none */
};

/*
 * Stores the number of an object (0 for NULL), and whether the number is new.  Takes ownership of
 * the local reference `object`: deletes it now or in ag_ids_release().
 */
int ag_ids_take(struct ag_jvm *jvm, struct ag_ids *ids, jobject object, uint32_t *id, bool *new);
void ag_ids_release(struct ag_jvm *jvm, struct ag_ids *ids);

#endif
