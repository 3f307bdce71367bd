/*
 * Runs a function that reads a target's file systems.  If those file systems may not answer, the
 * function runs in a worker, with a deadline; otherwise it runs in this process.
 */
#ifndef JTOOL_ATTACH_TARGET_QUERY_H
#define JTOOL_ATTACH_TARGET_QUERY_H

#include <stdint.h>

#include "attach/target_ns.h"
#include "base/buf.h"

#define TARGET_QUERY_MS 1000

/*
 * The function that target_query() runs.  `arg` may contain pointers, because a worker is a fork of
 * this process.  Returns 0, or -1 with err set.
 */
typedef int target_query_fn(const struct target_ns *ns, const void *arg, struct buf *answer,
			    struct err *err);

struct target_query {
	target_query_fn *fn;
	const void *arg;
	int fd;        /* a descriptor that fn uses; -1: none */
	size_t max;    /* limit for the answer in bytes */
	unsigned ms;   /* deadline in ms; 0: TARGET_QUERY_MS */
};

/*
 * Opens the target's directories and calls q->fn.  Returns 0, or -1 with `err` set: by q->fn, or
 * because the target has exited, denies access, or has a file system that does not answer
 * (EXIT_ATTACH).
 */
int target_query(const struct jvm *jvm, const struct target_query *q, struct buf *answer,
		 struct err *err) _must_check_;

/* Like target_query(), for a function whose answer is one uint64_t, which is stored in *number. */
int target_query_number(const struct jvm *jvm, const struct target_query *q, uint64_t *number,
			struct err *err) _must_check_;

#endif
