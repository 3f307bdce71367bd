/*
 * An attach operation beside us, in a thread of its own: for one whose result must be taken
 * while the JVM works on it.
 */
#ifndef JTOOL_TARGET_ASKING_H
#define JTOOL_TARGET_ASKING_H

#include <pthread.h>

#include "target/attach.h"

struct asking {
	const struct jvm *jvm;
	const struct attach_opts *opts;
	const struct attach_request *req;
	struct attach_reply reply;
	struct err err;
	int rc;
	pthread_t thread;
	int end;      /* hangs up when the answer is here, or will not come */
	int end_peer; /* the thread's */
};

/*
 * Start attach_execute_long().  What is pointed to must stay until it is joined.  -1 with err
 * set: nothing was started.
 */
int asking_start(struct asking *a, const struct jvm *jvm, const struct attach_opts *opts,
		 const struct attach_request *req, struct err *err) _must_check_;

/* Wait until it has ended; then as attach_execute_long(). */
int asking_join(struct asking *a, struct attach_reply *reply, struct err *err) _must_check_;

#endif
