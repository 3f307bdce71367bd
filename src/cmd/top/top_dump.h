/*
 * A thread dump that is requested in a worker process, so that `jtool top` does not have to wait:
 * the JVM may be paused, and attaching may take up to the timeout.
 */
#ifndef JTOOL_CMD_TOP_TOP_DUMP_H
#define JTOOL_CMD_TOP_TOP_DUMP_H

#include "cli/command.h"
#include "worker/worker.h"

struct top_dump {
	struct worker worker;
};

#define TOP_DUMP_INIT { WORKER_INIT }

/*
 * Starts the request.  Call it only if none is running.  Returns -1 with err set if no worker can
 * be started.
 */
int top_dump_start(struct top_dump *d, const struct ctx *ctx, const struct jvm *jvm,
		   struct err *err) _must_check_;
bool top_dump_is_running(const struct top_dump *d);
/*
 * Returns the descriptor that becomes readable when data arrives, for poll(2); -1 if no request is
 * running.
 */
int top_dump_fd(const struct top_dump *d);

/*
 * Receives data of the dump.  Returns 0 if more will follow; 1 with the dump in `text`; or -1 with
 * an error of attach_call_text().
 */
int top_dump_take(struct top_dump *d, struct buf *text, struct err *err) _must_check_;

/* Ends the request and its worker.  The JVM is not affected: see attach/attach.h. */
void top_dump_end(struct top_dump *d);

#endif
