/*
 * Receives the agent's frames until its operation ends: by itself, on a signal, or when the
 * command's tick() stops it.
 *
 * Between follow_begin() and follow_end(), SIGINT and SIGTERM request a stop instead of ending
 * jtool, which still has a result to show.  A second signal ends jtool; the agent then restores
 * everything by itself.
 */
#ifndef JTOOL_CMD_FOLLOW_H
#define JTOOL_CMD_FOLLOW_H

#include <signal.h>

#include "base/deadline.h"
#include "cli/command.h"
#include "session/session.h"

struct follow {
	const struct ctx *ctx;
	uint16_t stop_request;      /* WIRE_ALLOC_STOP, … */
	unsigned stop_ms;           /* time limit for stopping and restoring classes */
	const char *what, *restore; /* phrases of the error message when `end` has passed */
	session_take_fn *take;
	bool (*tick)(void *arg);    /* called ten times a second to redraw; true requests a stop */
	void *arg;                  /* argument of take() and tick() */
	struct deadline end;        /* by when the agent must begin or, once `begun`, end */
	bool begun;                 /* take() sets it when the agent has begun */
	bool stopped;               /* the stop request was sent */
	bool stopped_early;         /* the stop request was sent before `begun` */
	sigset_t signals, old;
};

void follow_begin(struct follow *f);
/* Sets f->end for an operation that ends by itself after duration_ms (0: never). */
void follow_expect_end(struct follow *f, unsigned duration_ms);
/* Returns 0 after the last frame, or -1 with err set; EXIT_PARTIAL when f->end has passed. */
int follow_run(struct follow *f, struct session *s, struct err *err) _must_check_;
void follow_end(const struct follow *f);

#endif
