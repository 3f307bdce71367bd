/*
 * Doing something again and again: INTERVAL and COUNT, as jstat has them.
 *
 * Times are fixed from the start on, so that what is done takes nothing off the schedule; a time
 * that has gone by, while the machine slept, is left out.
 */
#ifndef JTOOL_CMD_PACE_H
#define JTOOL_CMD_PACE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct pace {
	unsigned interval_ms; /* 0: once only */
	unsigned count;       /* 0: until a signal comes */
	unsigned done;
	int64_t next_ns;
	sigset_t stop; /* signals that end it */
};

/*
 * From [INTERVAL [COUNT]]: milliseconds, or a number with a unit (500ms, 1.5s, 1m).  -1 with err
 * set (EXIT_USAGE).
 */
int pace_parse(struct pace *pace, char *const *words, int n_words, struct err *err) _must_check_;

/*
 * Begin.  With an INTERVAL, SIGINT and SIGTERM end the loop from now on and no longer the
 * process, which has output to complete.
 */
void pace_begin(struct pace *pace);

/* Wait until it is time to do it again; false: it is done. */
bool pace_next(struct pace *pace);

/* Was it done as often as the caller wanted?  Without a COUNT: however often that was. */
bool pace_is_complete(const struct pace *pace);

#endif
