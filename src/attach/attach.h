/*
 * Runs one operation of the attach protocol in a JVM.
 *
 * SIGQUIT is sent only to a process that maps a libjvm.so and catches SIGQUIT; both conditions are
 * checked again just before the signal.  A child with the target's ids creates the trigger file,
 * which makes the JVM open its attach socket on SIGQUIT (sigquit.h).  The child leaves the file in
 * place until the JVM has opened the socket, even if jtool is killed, because a JVM that handles
 * the signal and finds no trigger file prints a thread dump.
 */
#ifndef JTOOL_ATTACH_ATTACH_H
#define JTOOL_ATTACH_ATTACH_H

#include "base/buf.h"
#include "base/err.h"
#include "fileio/spool.h"
#include "base/verbose.h"
#include "attach/protocol.h"
#include "discover/jvm.h"

/*
 * bytes() returns a number of bytes that grows while the JVM works on a request that it has not
 * answered yet.
 */
struct attach_progress {
	uint64_t (*bytes)(void *arg);
	void *arg;
};

struct attach_opts {
	unsigned timeout_ms;
	const struct verbose *steps;
	uint64_t max; /* limit for the answer in bytes; 0: ATTACH_ANSWER_MAX */
	bool cut;     /* true: cut off a longer answer after `max` bytes; false: fail */
	const struct attach_progress *progress; /* for attach_execute_long(); NULL: none */
	/*
	 * If not NULL: is called with confirm_arg after jtool has connected to the JVM, immediately
	 * before it sends the request.  Returns 0; or -1 with `err` set, and nothing is sent.
	 */
	int (*confirm)(void *confirm_arg, struct err *err);
	void *confirm_arg;
};

#define ATTACH_ANSWER_MAX (UINT64_C(1) << 30)
/* attach_execute_long() waits this many ms without progress, or timeout_ms if that is longer. */
#define ATTACH_LONG_MS 600000

struct attach_reply {
	int code;            /* the number in the status line; 0: success */
	struct spool output; /* the reply after the status line, unchanged */
};

/*
 * Sends one operation and reads the reply; first starts the JVM's attach listener if it is not
 * running.  The complete reply is stored in memory or in an unlinked file before the caller reads
 * it, so that a slow caller never blocks the JVM.  Returns 0 with *reply set, also if the status
 * code is not 0; the caller releases *reply.  Returns -1 with `err` set if the process is not a
 * JVM, is starting or stopped, has exited, does not permit attaching, has too little memory for the
 * operation (discover/memory_check.h), or does not answer in time.
 *
 * Two of the errors are timeouts.  EXIT_ATTACH: the answer did not begin within timeout_ms; if the
 * JVM had not read the request by then, it does not carry it out.
 * EXIT_PARTIAL: after the answer had begun, it neither ended nor grew by STALL_BYTES in a period of
 * timeout_ms (fileio/slow_peer.h).
 */
int attach_execute(const struct jvm *jvm, const struct attach_opts *opts,
		   const struct attach_request *req, struct attach_reply *reply, struct err *err)
	_must_check_;

/*
 * Like attach_execute(), but for an operation that takes long, such as a heap dump.  timeout_ms
 * applies until the JVM has read the request.  After that, the longer of timeout_ms and
 * ATTACH_LONG_MS applies.  That time begins again whenever the answer and the number of
 * opts->progress together have grown by STALL_BYTES.
 */
int attach_execute_long(const struct jvm *jvm, const struct attach_opts *opts,
			const struct attach_request *req, struct attach_reply *reply,
			struct err *err) _must_check_;
void attach_reply_release(struct attach_reply *reply);

#endif
