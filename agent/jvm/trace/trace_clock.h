/*
 * The clock of hooks: the time of CLOCK_MONOTONIC in ns.
 *
 * The two hooks of a call spend most of their time on reading the clock.  So this clock reads the
 * time stamp counter itself, which takes 10 ns; the C library's clock_gettime() takes 24 ns,
 * because it orders and scales each reading.  This clock reads the counter only on x86-64, and only
 * if the counter is the kernel's own clock source: the kernel has then checked that the counter has
 * a constant rate and is equal on all processors (arch/x86/kernel/tsc.c and tsc_sync.c).  If the
 * counter is the clock source, the client sets WIRE_TRACE_COUNTER in its request.
 *
 * The rate of the counter is measured when a trace begins.  As long as the trace runs, the session
 * compares this clock with CLOCK_MONOTONIC.  If the two drift apart by more than 0.1 % of the time
 * between two comparisons, this clock reads CLOCK_MONOTONIC from then on.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_CLOCK_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "util/clock.h"

#define AG_CLOCK_RATE_BITS 32

struct ag_trace_clock {
	/* Read by hooks at any time: */
	uint64_t rate;  /* ns per tick, times 2^AG_CLOCK_RATE_BITS; 0: read CLOCK_MONOTONIC */
	uint64_t ticks; /* value of the counter at the time `ns` */
	int64_t ns;     /* time of CLOCK_MONOTONIC when the clock was started */

	/* The last comparison, used by the session's thread: */
	int64_t checked_ns; /* time of that comparison by CLOCK_MONOTONIC */
	int64_t ahead_ns;   /* how far this clock was ahead of CLOCK_MONOTONIC then */
};

/*
 * Starts the clock.  If `counter` is true, the clock uses the time stamp counter, whose rate it
 * first measures for 2 ms; otherwise it reads CLOCK_MONOTONIC.
 */
void ag_trace_clock_start(struct ag_trace_clock *clock, bool counter);

/*
 * Compares the clock with CLOCK_MONOTONIC, if the last comparison was at least 100 ms ago.  If they
 * have drifted apart, the clock reads CLOCK_MONOTONIC from then on.
 */
void ag_trace_clock_check(struct ag_trace_clock *clock);

/* Returns the time at which the counter has the value `ticks`. */
static inline int64_t ag_trace_clock_at(const struct ag_trace_clock *clock, uint64_t rate,
					uint64_t ticks)
{
	int64_t passed = (int64_t)(ticks - __atomic_load_n(&clock->ticks, __ATOMIC_RELAXED));

	return __atomic_load_n(&clock->ns, __ATOMIC_RELAXED) +
	       (int64_t)(((__int128)passed * rate) >> AG_CLOCK_RATE_BITS);
}

static inline int64_t ag_trace_clock_now(const struct ag_trace_clock *clock)
{
#ifdef __x86_64__
	uint64_t rate = __atomic_load_n(&clock->rate, __ATOMIC_RELAXED);

	if (rate != 0)
		return ag_trace_clock_at(clock, rate, __builtin_ia32_rdtsc());
#else
	(void)clock;
#endif
	return ag_now_ns();
}

#endif
