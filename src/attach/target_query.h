/*
 * Runs a function that reads a target's file systems.  If all of these are local, the function runs
 * in this process.  If a file system may not answer, the function runs in a worker process, with a
 * deadline.
 */
#ifndef JTOOL_ATTACH_TARGET_QUERY_H
#define JTOOL_ATTACH_TARGET_QUERY_H

#include <stdint.h>

#include "attach/target_ns.h"
#include "base/buf.h"

#define TARGET_QUERY_MS 1000

/*
 * The function that target_query() runs.  `arg` may contain pointers, because a worker is a fork of
 * this process.  The function returns 0, or -1 with err set.
 */
typedef int target_query_fn(const struct target_ns *ns, const void *arg, struct buf *answer,
			    struct err *err);

struct target_query {
	target_query_fn *fn;
	const void *arg;
	int fd;        /* a descriptor that stays open in the worker, for `fn`; -1: none */
	size_t max;    /* limit for the bytes that `fn` appends to `answer` */
	unsigned ms;   /* deadline in ms; 0: TARGET_QUERY_MS */
};

/*
 * Opens the target's directories and calls q->fn.  Returns 0, or -1 with `err` set.  Fails if q->fn
 * fails, or if the target has exited, denies access, or has a file system that does not answer
 * (EXIT_ATTACH).
 */
int target_query(const struct jvm *jvm, const struct target_query *q, struct buf *answer,
		 struct err *err) _must_check_;

/* Like target_query(), for a function whose answer is one uint64_t, which is stored in *number. */
int target_query_number(const struct jvm *jvm, const struct target_query *q, uint64_t *number,
			struct err *err) _must_check_;

#endif
