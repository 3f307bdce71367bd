/*
 * The methods of a class as the JVM runs them.  The code of a method is from the class file, unless
 * the bytecode in the JVM's memory is not equivalent to it; then the code is from memory.
 */
#ifndef JTOOL_MODEL_CLASS_EFFECTIVE_CODE_H
#define JTOOL_MODEL_CLASS_EFFECTIVE_CODE_H

#include "classfile/code.h"
#include "classfile/code_equal.h"
#include "classfile/member_index.h"
#include "model/class/class_capture.h"
#include "model/class/javasig.h"

struct effective_code {
	const struct cf_class *class;    /* the class file; NULL: none */
	const struct class_capture *captured; /* the contents of the JVM's memory; NULL: none */
	/* constant pool in the JVM's memory; pool.at is NULL if `captured` has none */
	struct cf_pool pool;
	struct cf_bootstraps bootstraps; /* of `class` */
	struct cf_member_index in_file;   /* the methods of `class` */
	struct cf_member_index in_memory; /* the methods of `captured`; empty if there is no pool */
	struct ag_mem mem;
	struct cf_members left; /* state of effective_code_next() */
	size_t next;
};

struct effective_method {
	struct javasig_member member;
	struct cf_body body; /* the code that runs; body.code is NULL if the method has no code */
	/* the method's Code attribute in the class file; file.code is NULL if there is none */
	struct cf_code file;
	bool memory;         /* `body` is from the JVM's memory, not from the class file */
};

/*
 * Opens the methods of `class` and `captured`.  Either may be NULL; both must outlive `r`.  Returns
 * NULL; or, if the constant pool in memory cannot be read, the reason.  In that case only the code
 * of the class file is available.
 */
const char *effective_code_open(struct effective_code *r, const struct cf_class *class,
				const struct class_capture *captured) _must_check_;
void effective_code_release(struct effective_code *r);

/*
 * Stores the next method in *m: first the methods of the class file, then those that are only in
 * memory.  Returns false if there are no more methods.
 */
bool effective_code_next(struct effective_code *r, struct effective_method *m);
/*
 * Finds a method by name and descriptor, and stores it in *m.  Returns false if there is none.
 * Does not affect which method effective_code_next() returns next.
 */
bool effective_code_find(struct effective_code *r, struct cf_text name, struct cf_text descriptor,
			 struct effective_method *m);

#endif
