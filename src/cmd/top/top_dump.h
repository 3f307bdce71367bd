/*
 * A thread dump that a worker requests, so that `top` goes on meanwhile: a JVM may be paused, and
 * attaching may take up to the timeout.
 */
#ifndef JTOOL_CMD_TOP_TOP_DUMP_H
#define JTOOL_CMD_TOP_TOP_DUMP_H

#include "cli/command.h"
#include "worker/worker.h"

struct top_dump {
	struct worker worker;
};

#define TOP_DUMP_INIT { WORKER_INIT }

/* Returns -1 with err set if no worker can be started.  Only if none is running. */
int top_dump_start(struct top_dump *d, const struct ctx *ctx, const struct jvm *jvm,
		   struct err *err) _must_check_;
bool top_dump_is_running(const struct top_dump *d);
/* Returns what becomes readable, for poll(2); -1: nothing is running. */
int top_dump_fd(const struct top_dump *d);

/*
 * Takes what has arrived.  Returns 0 if more follows; 1 with the dump in `text`; or -1 with err
 * set, as attach_call_text() sets it.
 */
int top_dump_take(struct top_dump *d, struct buf *text, struct err *err) _must_check_;

/* Ends the worker.  The JVM is not affected: see attach/attach.h. */
void top_dump_end(struct top_dump *d);

#endif
