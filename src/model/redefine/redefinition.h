/*
 * May a running class be redefined to another class file?  The JVM says no with a number alone;
 * here it is said in words which limit is broken and by which member, before the JVM is asked.
 */
#ifndef JTOOL_MODEL_REDEFINITION_H
#define JTOOL_MODEL_REDEFINITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "classfile/read.h"

/* What the answer depends on, beside the classes. */
struct redefinition_jvm {
	unsigned release;      /* 8, 11, 17, …; 0: not known */
	bool may_add_delete;   /* -XX:+AllowRedefinitionToAddDeleteMethods, JDK 13+ */
	bool may_preview;      /* --enable-preview */
	bool unverified;       /* the class's code is not verified: the boot loader's up to 21 … */
	uint32_t pool_count;   /* constant_pool_count in memory; 0: not known */
};

/*
 * Compare the class file that the JVM runs with the new one.  Each limit that is broken adds a
 * line to `why` (each ends with \n), in the order in which the JVM would find them, and the
 * first one's JVMTI error is returned; 0: nothing speaks against it.  The bytes of the new class
 * are checked as well (verify.h).
 */
int redefinition_check(const struct cf_class *running, const struct cf_class *new,
		       const struct redefinition_jvm *jvm, struct buf *why);

/*
 * What the JVM accepts and what may surprise all the same: a line each, as above, or nothing.
 */
void redefinition_notes(const struct cf_class *running, const struct cf_class *new,
			struct buf *notes);

/*
 * For how many seconds, about, the JVM stands still when it replaces n of its classes in one go,
 * or puts them back; 0: less than one.
 */
unsigned redefinition_pause_s(const struct redefinition_jvm *jvm, size_t n, size_t n_loaded);

/* The limit in words, where only the JVM's error is known. */
const char *redefinition_error(int jvmti_error);

#endif
