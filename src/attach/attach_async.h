/*
 * Runs an attach operation in a thread, so that the caller can read the JVM's result while the JVM
 * writes it.
 */
#ifndef JTOOL_ATTACH_ATTACH_ASYNC_H
#define JTOOL_ATTACH_ATTACH_ASYNC_H

#include <pthread.h>

#include "attach/attach.h"

struct attach_async {
	const struct jvm *jvm;
	const struct attach_opts *opts;
	const struct attach_request *req;
	struct attach_reply reply;
	struct err err;
	int rc;
	pthread_t thread;
	int end;      /* read end of a pipe; reports POLLHUP after the operation's end */
	int end_peer; /* write end of the pipe `end`; the thread closes it */
};

/*
 * Starts attach_execute_long() in a thread.  The objects that the arguments point to must stay
 * valid until attach_async_join().  Returns 0; or -1 with `err` set if no thread was started.
 */
int attach_async_start(struct attach_async *a, const struct jvm *jvm,
		       const struct attach_opts *opts, const struct attach_request *req,
		       struct err *err) _must_check_;

/* Waits for the end of the operation, and returns what attach_execute_long() has returned. */
int attach_async_join(struct attach_async *a, struct attach_reply *reply,
		      struct err *err) _must_check_;

#endif
