/*
 * The methods of a class as a JVM runs them: as the class file has them, and as its memory does
 * where that was told and does another thing.
 */
#ifndef JTOOL_MODEL_RUNNING_H
#define JTOOL_MODEL_RUNNING_H

#include "classfile/code.h"
#include "classfile/same.h"
#include "model/captured.h"
#include "model/javasig.h"

struct running {
	const struct cf_class *class;    /* NULL: there is no class file */
	const struct captured *captured; /* NULL: nothing is known of the memory */
	struct cf_pool pool;             /* of the memory; at is NULL when it is not known */
	struct ag_mem mem;
	struct cf_members left; /* of running_next() */
	size_t next;
};

struct running_method {
	struct javasig_member member;
	struct cf_body body; /* code NULL: it has none */
	struct cf_code file; /* the class file's, for what memory does not tell; code may be NULL */
	bool memory;         /* the body is the memory's */
};

/*
 * Both stay the caller's and must outlive it; either may be NULL.  NULL when done, else why the
 * memory's constant pool cannot be read: then only the class file's code is known.
 */
const char *running_open(struct running *r, const struct cf_class *class,
			 const struct captured *captured) _must_check_;
void running_release(struct running *r);

/* The class file's methods in its order, then those that only the memory has. */
bool running_next(struct running *r, struct running_method *m);
/* The one of this name and descriptor, wherever running_next() is. */
bool running_find(struct running *r, struct cf_text name, struct cf_text descriptor,
		  struct running_method *m);

#endif
