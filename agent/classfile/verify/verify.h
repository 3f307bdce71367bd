/*
 * Checks whether the JVM would accept a class file.  Boot classes are verified like any other
 * class: JVMs up to JDK 21 accept redefined boot classes unverified, and bad code in such a class
 * ends the process.
 *
 * cf_check() checks the format (JVMS 4.8): constants, names, descriptors and the indexes in
 * attributes.  cf_verify() checks the code: instructions and their operands (JVMS 4.9), and the
 * types on the stack and in local variables.  For the types it uses the StackMapTable (JVMS 4.10.1)
 * or, for class file versions below 50, type inference (JVMS 4.10.2); after a jsr, inference checks
 * only the stack depth.
 *
 * No class is loaded.  Of the inheritance between classes only the superclass of the checked class
 * is known; everything else is assumed to be as the code requires.
 */
#ifndef JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_H
#define JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_H

#include "classfile/read.h"

/* A fault and its location.  The texts point into the class file, or are string constants. */
struct cf_fault {
	struct cf_text name, descriptor; /* of the method or field; empty: the class itself */
	uint32_t pc;      /* UINT32_MAX: not at an instruction */
	const char *what; /* "operand stack underflow", … */
	bool format;      /* the JVM would throw ClassFormatError, not VerifyError */
	bool memory;      /* out of memory or time; the class may be valid */
};

/* Return true if the class is valid; else return false and fill in *fault. */
bool cf_check(const struct cf_class *class, struct cf_fault *fault);
bool cf_verify(const struct cf_class *class, struct cf_fault *fault);
/*
 * Like cf_verify(), but by type inference only.  For class files of boot classes that were read
 * from a JVM: up to JDK 17 the JVM discards the stack maps of boot classes, and it does not require
 * stack maps when such a class is loaded.
 */
bool cf_verify_without_maps(const struct cf_class *class, struct cf_fault *fault);

#endif
