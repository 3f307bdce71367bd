/*
 * Attaching: from a JVM that was found to the answer of one attach operation.
 *
 * Cannot hurt: SIGQUIT goes only to a process that maps a libjvm.so and catches SIGQUIT, looked
 * up again just before; the trigger file is made by a child with the target's own ids, which
 * stays until the JVM has answered, however jtool itself ends, so that a late JVM finds it and
 * prints no thread dump.
 */
#ifndef JTOOL_TARGET_ATTACH_H
#define JTOOL_TARGET_ATTACH_H

#include "base/buf.h"
#include "base/err.h"
#include "base/spool.h"
#include "base/steps.h"
#include "target/attachproto.h"
#include "target/jvm.h"

struct attach_opts {
	unsigned timeout_ms;
	const struct steps *steps;
};

struct attach_reply {
	int code;            /* status line */
	struct spool output; /* everything behind it, byte for byte */
};

/*
 * One operation from connect to the end of the answer, waking the JVM's listener first when
 * there is none.  The answer is drained into memory or an unlinked file before anybody looks at
 * it: a slow reader of ours never holds the JVM.  A code other than 0 is not an error here.
 *
 * -1 with the cause: not a JVM, starting, stopped, disabled, socket deleted under -Xrs, other
 * user, foreign trigger or socket, no writable tmp, wrong peer, no answer in time, gone.
 */
int attach_execute(const struct jvm *jvm, const struct attach_opts *opts,
		   const struct attach_request *req, struct attach_reply *reply, struct err *err)
	_must_check_;

/*
 * The same for what the JVM answers only when all is done, a heap dump: the time is for connecting
 * and until it has taken the request.  Then it is waited for as long as it is there and runs.
 */
int attach_execute_long(const struct jvm *jvm, const struct attach_opts *opts,
			const struct attach_request *req, struct attach_reply *reply,
			struct err *err) _must_check_;
void attach_reply_release(struct attach_reply *reply);

#endif
