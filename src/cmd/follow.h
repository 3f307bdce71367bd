/*
 * Receives the agent's frames until the operation that they belong to (a profile, a trace) ends: by
 * itself, on a signal, or when the command's tick() stops it.
 *
 * Between follow_begin() and follow_end(), SIGINT and SIGTERM request a stop instead of ending
 * jtool, because jtool must still show the result.  A second signal ends jtool; the agent then
 * restores the JVM without jtool.
 */
#ifndef JTOOL_CMD_FOLLOW_H
#define JTOOL_CMD_FOLLOW_H

#include <signal.h>

#include "base/deadline.h"
#include "cli/command.h"
#include "session/session.h"

struct follow {
	const struct ctx *ctx;
	uint16_t stop_request;      /* request that stops the operation: WIRE_ALLOC_STOP, … */
	unsigned stop_ms; /* time in ms that the agent has to stop and to restore the classes */
	/*
	 * Texts for the error message if the deadline `end` passes: `what` names the operation, for
	 * example "trace"; `restore` says what happens when a JVM that was stopped (SIGSTOP) runs
	 * again, for example "the classes are restored".
	 */
	const char *what, *restore;
	session_take_fn *take;
	/* Called ten times a second, for example to redraw; returns true to request a stop. */
	bool (*tick)(void *arg);
	void *arg;                  /* first argument of take() and tick() */
	/*
	 * until `begun` is set, the deadline for the agent to begin; then the deadline for the
	 * operation to end
	 */
	struct deadline end;
	bool begun;                 /* set by take() when the agent has begun */
	bool stopped;               /* the stop request was sent */
	bool stopped_early;         /* the stop request was sent before `begun` */
	/* signals: the signals that request a stop; old: the signal mask before follow_begin() */
	sigset_t signals, old;
};

void follow_begin(struct follow *f);
/*
 * Sets f->end for an operation that ends by itself after duration_ms.  If duration_ms is 0, the
 * operation has no end of its own, and f->end is unlimited until the stop request is sent.
 */
void follow_expect_end(struct follow *f, unsigned duration_ms);
/*
 * Receives frames until the operation's last one.  Returns 0, or -1 with err set: EXIT_PARTIAL
 * when f->end has passed.
 */
int follow_run(struct follow *f, struct session *s, struct err *err) _must_check_;
void follow_end(const struct follow *f);

#endif
