/*
 * Reads something in a target's file systems, which may not answer: in a worker, with a deadline.
 */
#ifndef JTOOL_ATTACH_TARGET_QUERY_H
#define JTOOL_ATTACH_TARGET_QUERY_H

#include <stdint.h>

#include "attach/target_ns.h"
#include "base/buf.h"

#define TARGET_QUERY_MS 1000

/* Runs in the worker, which has a copy of our memory: `arg` points into it.  Returns 0 or -1. */
typedef int target_query_fn(const struct target_ns *ns, const void *arg, struct buf *answer,
			    struct err *err);

struct target_query {
	target_query_fn *fn;
	const void *arg;
	int fd;        /* a descriptor that the function needs; -1: none */
	size_t max;    /* bytes of the answer */
	unsigned ms;   /* 0: TARGET_QUERY_MS */
};

/*
 * Runs the function with the target's directories open.  Returns -1 with `err` set by it, or if the
 * target has exited, denies access, or has a file system that does not answer (EXIT_ATTACH).
 */
int target_query(const struct jvm *jvm, const struct target_query *q, struct buf *answer,
		 struct err *err) _must_check_;

/* The same for a function whose answer is a number. */
int target_query_number(const struct jvm *jvm, const struct target_query *q, uint64_t *number,
			struct err *err) _must_check_;

#endif
