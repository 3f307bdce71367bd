/*
 * A thread dump that a worker process requests, so that `jtool top` does not have to wait if the
 * JVM is paused or attaching takes as long as the timeout.
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
 * Starts a request.  Call it only if no request is running.  Returns 0; or -1 with err set if no
 * worker can be started.
 */
int top_dump_start(struct top_dump *d, const struct ctx *ctx, const struct jvm *jvm,
		   struct err *err) _must_check_;
bool top_dump_is_running(const struct top_dump *d);
/*
 * Returns the descriptor, for poll(2), that becomes readable when data of the dump arrives; or -1
 * if no request is running.
 */
int top_dump_fd(const struct top_dump *d);

/*
 * Receives data of the dump.  Returns 0 if more data will come; or 1 with the complete dump in
 * *text; or -1 with the worker's error in *err.
 */
int top_dump_take(struct top_dump *d, struct buf *text, struct err *err) _must_check_;

/* Ends the request and its worker.  This is safe at any time: see attach/attach.h. */
void top_dump_end(struct top_dump *d);

#endif
