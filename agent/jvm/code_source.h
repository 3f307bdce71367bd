/* Finds out where a class was loaded from, without running Java code or allocating objects. */
#ifndef JTOOL_AGENT_JVM_CODE_SOURCE_H
#define JTOOL_AGENT_JVM_CODE_SOURCE_H

#include "jvm/jvmti.h"

/*
 * The field or the method with which the protection domain of a class is read.  If this JDK has
 * neither, both are NULL, and ag_code_source_domain() stores NULL for every class.
 */
struct ag_code_source {
	jfieldID field;   /* Class.protectionDomain, from JDK 25 on (JDK-8349145) */
	jmethodID method; /* native Class.getProtectionDomain0(), before JDK 25 */
};

int ag_code_source_init(struct ag_jvm *jvm, struct ag_code_source *source);

/* Stores a local reference to the protection domain, or NULL (boot classes, arrays). */
int ag_code_source_domain(struct ag_jvm *jvm, const struct ag_code_source *source, jclass class,
			  jobject *domain);

#define AG_CODE_SOURCE_MAX (3 * 4096 + 1) /* bytes; longer locations are truncated */

/* Stores the URL of the protection domain's code source, or "" if there is none. */
int ag_code_source_of_domain(struct ag_jvm *jvm, jobject domain, char text[AG_CODE_SOURCE_MAX]);
/*
 * Stores "jrt:/NAME" for java.base and for a named module in a module layer; "" for an unnamed or a
 * dynamic module.
 */
int ag_code_source_of_module(struct ag_jvm *jvm, jobject module, char text[AG_CODE_SOURCE_MAX]);

#endif
