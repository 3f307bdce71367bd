/*
 * Predicts whether the JVM accepts a redefinition.  If it does not, names the JVM's limits that the
 * redefinition breaks, and the members of the class that break them.  The JVM itself would report
 * only an error number.
 */
#ifndef JTOOL_MODEL_REDEFINE_REDEFINITION_H
#define JTOOL_MODEL_REDEFINE_REDEFINITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "classfile/read.h"

/* The properties of a JVM on which the result depends. */
struct redefinition_jvm {
	unsigned release;      /* 8, 11, 17, …; 0: unknown */
	bool may_add_delete; /* -XX:+AllowRedefinitionToAddDeleteMethods is on (JDK 13 and later) */
	bool may_preview;      /* --enable-preview is on */
	/*
	 * The JVM does not verify the class: -XX:-BytecodeVerificationRemote or -Xverify:none is
	 * set; or, JDK 8 to 21, the boot loader defined the class.
	 */
	bool unverified;
	uint32_t pool_count;   /* constant_pool_count of the running class; 0: unknown */
};

/*
 * Compares the class file of the running class with the new class file, and verifies the new class
 * file (verify.h).  Appends a line to `why` for each limit of HotSpot that the new class breaks, in
 * the order in which the JVM checks the limits.  Returns the JVMTI error of the first broken limit,
 * or 0 if no limit is broken.
 */
int redefinition_check(const struct cf_class *running, const struct cf_class *new,
		       const struct redefinition_jvm *jvm, struct buf *why);

/* Appends a line for each change that the JVM accepts but that may have no effect. */
void redefinition_notes(const struct cf_class *running, const struct cf_class *new,
			struct buf *notes);

/*
 * Estimates the pause in seconds if n classes are replaced or restored at once in a JVM that has
 * n_loaded classes.
 */
unsigned redefinition_pause_s(const struct redefinition_jvm *jvm, size_t n, size_t n_loaded);

/* Returns a text for a JVMTI error of a redefinition. */
const char *redefinition_error(int jvmti_error);

#endif
