/*
 * Runs one operation of the attach protocol in a JVM.
 *
 * SIGQUIT is sent only to a process that maps a libjvm.so and catches SIGQUIT; this is checked
 * again just before the signal.  A child with the target's ids creates the trigger file and keeps
 * it until the JVM has answered, even when jtool is killed: without the file, a JVM that handles
 * the signal late prints a thread dump.
 */
#ifndef JTOOL_ATTACH_ATTACH_H
#define JTOOL_ATTACH_ATTACH_H

#include "base/buf.h"
#include "base/err.h"
#include "fileio/spool.h"
#include "base/verbose.h"
#include "attach/protocol.h"
#include "discover/jvm.h"

/* A number that grows while the JVM works on a request, although no answer has arrived yet. */
struct attach_progress {
	uint64_t (*bytes)(void *arg);
	void *arg;
};

struct attach_opts {
	unsigned timeout_ms;
	const struct verbose *steps;
	uint64_t max; /* bytes of the answer; 0: ATTACH_ANSWER_MAX */
	bool cut;     /* a longer answer is cut; otherwise it is an error (EXIT_PARTIAL) */
	const struct attach_progress *progress; /* of attach_execute_long(); NULL: none */
};

#define ATTACH_ANSWER_MAX (UINT64_C(1) << 30)
/* How long attach_execute_long() waits without progress, unless the timeout is longer. */
#define ATTACH_LONG_MS 600000

struct attach_reply {
	int code;            /* the number in the status line; 0: success */
	struct spool output; /* everything after the status line, unchanged */
};

/*
 * Sends one operation and reads the reply; first starts the JVM's attach listener if it is not
 * running.  The reply goes to memory or an unlinked file, so that a slow consumer never blocks the
 * JVM.  A status code other than 0 is not an error.  Returns -1 with `err` set if the process is
 * not a JVM, is starting, stopped or gone, does not permit attaching, has too little memory for the
 * operation (discover/memory_check.h), or does not answer in time.
 *
 * The answer must begin within the timeout (EXIT_ATTACH), and then end or grow by STALL_BYTES
 * within the same time, and again each time (EXIT_PARTIAL); see fileio/stall.h.
 */
int attach_execute(const struct jvm *jvm, const struct attach_opts *opts,
		   const struct attach_request *req, struct attach_reply *reply, struct err *err)
	_must_check_;

/*
 * Like attach_execute(), for an operation that takes long, such as a heap dump: the timeout applies
 * only until the JVM has read the request.  From then on ATTACH_LONG_MS applies if it is longer,
 * and opts->progress counts as growth.
 */
int attach_execute_long(const struct jvm *jvm, const struct attach_opts *opts,
			const struct attach_request *req, struct attach_reply *reply,
			struct err *err) _must_check_;
void attach_reply_release(struct attach_reply *reply);

#endif
