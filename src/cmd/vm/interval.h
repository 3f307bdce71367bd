/*
 * Samples at an interval, with the arguments INTERVAL and COUNT as in jstat.
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
	unsigned interval_ms; /* 0: take only one sample */
	unsigned count;       /* 0: take samples until a signal arrives */
	unsigned done;        /* number of samples that were taken */
	int64_t next_ns;      /* when the next sample is due, by monotonic_ns() */
	sigset_t stop; /* signals that end the sampling */
};

/*
 * Parses [INTERVAL [COUNT]].  An INTERVAL without a unit is in ms.  Returns 0, or -1 with err set
 * (EXIT_USAGE).
 */
int interval_parse(struct interval *interval, char *const *words, int n_words,
		   struct err *err) _must_check_;

/*
 * Begins the schedule: the first sample is due now.  If INTERVAL was given, SIGINT and SIGTERM end
 * the sampling instead of the process.
 */
void interval_begin(struct interval *interval);

/*
 * Counts a sample, and waits until the next one is due.  Returns false after the last sample, or if
 * a signal ends the sampling.
 */
bool interval_next(struct interval *interval);

/* Returns true if COUNT samples were taken, or if COUNT was not given. */
bool interval_is_complete(const struct interval *interval);

#endif
