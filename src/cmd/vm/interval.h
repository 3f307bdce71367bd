/*
 * Periodic sampling with INTERVAL and COUNT, as in jstat.
 *
 * Samples are due at fixed times after the start, however long each one takes.  Times that have
 * passed, for example while the machine was suspended, are skipped.
 */
#ifndef JTOOL_CMD_VM_INTERVAL_H
#define JTOOL_CMD_VM_INTERVAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct interval {
	unsigned interval_ms; /* 0: one sample only */
	unsigned count;       /* 0: until a signal arrives */
	unsigned done;        /* number of samples taken */
	int64_t next_ns;      /* when the next sample is due; monotonic time */
	sigset_t stop; /* the signals that end the sampling */
};

/* Parses [INTERVAL [COUNT]], in ms without a unit.  Returns 0, or -1 with err set (EXIT_USAGE). */
int interval_parse(struct interval *interval, char *const *words, int n_words,
		   struct err *err) _must_check_;

/* Starts the schedule.  With INTERVAL, SIGINT and SIGTERM end the sampling, not the process. */
void interval_begin(struct interval *interval);

/* Counts a sample and waits until the next one is due; returns false after the last one. */
bool interval_next(struct interval *interval);

/* Returns true if COUNT samples were taken; without COUNT any number is complete. */
bool interval_is_complete(const struct interval *interval);

#endif
