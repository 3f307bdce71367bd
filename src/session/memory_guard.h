#ifndef JTOOL_SESSION_MEMORY_GUARD_H
#define JTOOL_SESSION_MEMORY_GUARD_H

#include <pthread.h>

#include "discover/memory_check.h"
#include "session/session.h"

/*
 * A thread that watches the memory of a JVM during a request to the agent, and interrupts the
 * session when too little memory is left.  The thread that receives the answer cannot watch the
 * memory, because it may have to wait for the agent or for a slow disk.
 */
struct memory_guard {
	struct session *session;
	const struct jvm *jvm;
	enum memory_use use;
	pthread_t thread;
	bool is_over;        /* set to end the thread */
	struct err shortage; /* the error of memory_check(); EXIT_DONE: there was enough memory */
};

/*
 * Starts the thread.  `use` is MEMORY_COPY during a snapshot, for which the kernel copies pages;
 * otherwise MEMORY_IDLE.  *guard and the session must exist until memory_guard_end().  Returns 0;
 * or -1 with err set if the thread cannot be created.
 */
int memory_guard_begin(struct memory_guard *guard, struct session *session, const struct jvm *jvm,
		       enum memory_use use, struct err *err) _must_check_;

/*
 * Ends the thread.  Returns 0; or, if the thread has interrupted the session, -1 with the error of
 * memory_check() in *err.
 */
int memory_guard_end(struct memory_guard *guard, struct err *err) _must_check_;

#endif
