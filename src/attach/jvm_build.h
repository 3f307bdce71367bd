/* The build of HotSpot that a JVM runs: the path of libjvm.so, and the build id in this file. */
#ifndef JTOOL_ATTACH_JVM_BUILD_H
#define JTOOL_ATTACH_JVM_BUILD_H

#include "discover/jvm.h"

struct jvm_build {
	char *path; /* in the JVM's root directory; NULL: unknown */
	char *id;   /* in lower-case hexadecimal digits, as readelf(1) prints it; NULL: unknown */
};

/*
 * Reads the build of a running JVM.  Sets a member to NULL if it cannot be read, for example
 * because the JVM has exited.  The caller releases *build.
 */
void jvm_build_read(const struct jvm *jvm, struct jvm_build *build);
void jvm_build_release(struct jvm_build *build);

#endif
