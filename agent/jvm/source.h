/*
 * Where a class was loaded from: read out of the JVM's objects, without running any Java code
 * and without making an object.
 */
#ifndef JTOOL_AGENT_JVM_SOURCE_H
#define JTOOL_AGENT_JVM_SOURCE_H

#include "jvm/ti.h"

/* The way from a class to its protection domain; without one, no class has any. */
struct ag_source {
	jfieldID field;   /* Class.protectionDomain: JDK 25 on (JDK-8349145) */
	jmethodID method; /* the native Class.getProtectionDomain0(): before */
};

int ag_source_init(struct ag_jvm *jvm, struct ag_source *source);

/* A class's protection domain: a local reference, or NULL as boot classes and arrays have it. */
int ag_source_domain(struct ag_jvm *jvm, const struct ag_source *source, jclass class,
		     jobject *domain);

/* A location is cut to this. */
#define AG_SOURCE_MAX (3 * 4096 + 1)

/* The URL of a protection domain's code source, "" for none. */
int ag_source_of_domain(struct ag_jvm *jvm, jobject domain, char text[AG_SOURCE_MAX]);
/* "jrt:/java.base" of a module in a layer; "" of others, which are made while the JVM runs. */
int ag_source_of_module(struct ag_jvm *jvm, jobject module, char text[AG_SOURCE_MAX]);

#endif
