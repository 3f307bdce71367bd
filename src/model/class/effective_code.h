/*
 * The methods of a class as the JVM runs them: from the class file, or from the JVM's memory if the
 * bytecode in memory is not equivalent.
 */
#ifndef JTOOL_MODEL_CLASS_EFFECTIVE_CODE_H
#define JTOOL_MODEL_CLASS_EFFECTIVE_CODE_H

#include "classfile/code.h"
#include "classfile/code_equal.h"
#include "model/class/class_capture.h"
#include "model/class/javasig.h"

struct effective_code {
	const struct cf_class *class;    /* NULL: no class file */
	const struct class_capture *captured; /* NULL: no memory contents */
	struct cf_pool pool;             /* of the memory contents; at is NULL if there are none */
	struct ag_mem mem;
	struct cf_members left; /* state of effective_code_next() */
	size_t next;
};

struct effective_method {
	struct javasig_member member;
	struct cf_body body; /* code is NULL if the method has none */
	struct cf_code file; /* the class file's code with its tables; code may be NULL */
	bool memory;         /* body is from memory */
};

/*
 * Opens the methods of `class` and `captured`.  Each may be NULL; both must outlive `r`.  Returns
 * NULL, or why the constant pool in memory cannot be read.  In that case, only the class file's
 * code is available.
 */
const char *effective_code_open(struct effective_code *r, const struct cf_class *class,
				const struct class_capture *captured) _must_check_;
void effective_code_release(struct effective_code *r);

/* Iterates over the class file's methods, then over those that are only in memory. */
bool effective_code_next(struct effective_code *r, struct effective_method *m);
/* Finds a method by name and descriptor; independent of effective_code_next(). */
bool effective_code_find(struct effective_code *r, struct cf_text name, struct cf_text descriptor,
			 struct effective_method *m);

#endif
