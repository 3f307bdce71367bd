/*
 * Checks whether the JVM would accept a class file.  Checks boot classes like all other classes,
 * although JVMs up to JDK 21 do not verify a redefined boot class: they accept bad code, and bad
 * code in such a class crashes the JVM.
 *
 * cf_check() checks the format (JVMS 4.8): constants, names, descriptors and the indexes in
 * attributes.
 *
 * cf_verify() checks the code: instructions and their operands (JVMS 4.9), and the types on the
 * stack and in local variables.  It checks the types with the StackMapTable (JVMS 4.10.1) or, for
 * class file versions below 50, by type inference (JVMS 4.10.2).  After the return from a
 * subroutine (jsr), inference knows no types, and checks only the stack depth.
 *
 * No class is loaded.  Only the superclass of the checked class is known; of all other classes, the
 * functions assume the inheritance that the code requires.
 */
#ifndef JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_H
#define JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_H

#include "classfile/read.h"

/* A fault and its location.  A text points into the class file, or is a string constant. */
struct cf_fault {
	struct cf_text name, descriptor; /* of the method or field; empty: a fault of the class */
	uint32_t pc;      /* of the instruction; UINT32_MAX: not a fault of an instruction */
	const char *what; /* "operand stack underflow", … */
	bool format;      /* the JVM would throw ClassFormatError, not VerifyError */
	bool memory;      /* the check ran out of memory or time; the class may be valid */
};

/* Return true if the class is valid; else return false and fill in *fault. */
bool cf_check(const struct cf_class *class, struct cf_fault *fault);
bool cf_verify(const struct cf_class *class, struct cf_fault *fault);
/*
 * Like cf_verify(), but checks types by inference only.  Call it for a boot class whose class file
 * was read from a JVM.  Such a class file may lack stack maps: JVMs up to JDK 17 discard the stack
 * maps of boot classes, and load boot classes without stack maps.
 */
bool cf_verify_without_maps(const struct cf_class *class, struct cf_fault *fault);

#endif
