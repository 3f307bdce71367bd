/*
 * Would the JVM accept this class's bytes?  What it verifies itself is checked before it is
 * asked, and also where it would not look: up to JDK 21 the code of boot classes is taken
 * unverified when a class is redefined, and bad code there ends the process.
 *
 * cf_check() is the format (JVMS 4.8): constants, names, descriptors, attributes' indexes.
 * cf_verify() is the code: instructions and their operands (JVMS 4.9), and the types on stack and
 * in locals, by StackMapTable as JVMS 4.10.1 has it, or by following the flow where a class
 * file below version 50 has none (JVMS 4.10.2; behind a jsr only the stack's depth is checked).
 * No class is loaded: of what extends what only this class's own superclass is known, and what
 * is not known is taken to be right.
 */
#ifndef JTOOL_CLASSFILE_VERIFY_H
#define JTOOL_CLASSFILE_VERIFY_H

#include "classfile/read.h"

/* What is wrong and where; the texts point into the class or are constants. */
struct cf_fault {
	struct cf_text name, descriptor; /* of the method or field; empty: the class itself */
	uint32_t pc;      /* UINT32_MAX: not at an instruction */
	const char *what; /* "the stack is empty", … */
	bool format;      /* the JVM calls it a ClassFormatError, not a VerifyError */
	bool memory;      /* there was no memory to tell */
};

/* True when nothing is wrong, else *fault is filled in. */
bool cf_check(const struct cf_class *class, struct cf_fault *fault);
bool cf_verify(const struct cf_class *class, struct cf_fault *fault);
/*
 * The code by inference alone: for a dump of a boot class, whose stack maps the JVM throws away
 * up to JDK 17, and which the boot loader takes without.
 */
bool cf_verify_without_maps(const struct cf_class *class, struct cf_fault *fault);

#endif
