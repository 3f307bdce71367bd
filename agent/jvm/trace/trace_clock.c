#include "jvm/trace/trace_clock.h"

#include <poll.h>

#define NS_PER_MS INT64_C(1000000)
#define MEASURE_MS 2
#define WAITS_MAX 10 /* maximum number of waits of MEASURE_MS; a signal may end a wait early */
#define READINGS 8
#define CHECK_NS (100 * NS_PER_MS)
#define NOISE_NS 20000 /* error of read_both() if each of its READINGS attempts was interrupted */
#define TOLERANCE 1000 /* the clock may drift from CLOCK_MONOTONIC by 1 ns per TOLERANCE ns */

#ifdef __x86_64__

/* The values of the time stamp counter and of CLOCK_MONOTONIC at the same time. */
struct reading {
	uint64_t ticks;
	int64_t ns;
};

/*
 * Reads the counter and CLOCK_MONOTONIC several times.  Returns the reading that took the shortest
 * time, because the others may have been interrupted.
 */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t before = __builtin_ia32_rdtsc();
		int64_t ns = ag_now_ns();
		uint64_t took = __builtin_ia32_rdtsc() - before;

		if (took < shortest) {
			shortest = took;
			best = (struct reading){ before + took / 2, ns };
		}
	}
	return best;
}

/* Returns the counter's rate between two readings (ag_trace_clock.rate); 0 if it is implausible. */
static uint64_t rate_between(struct reading a, struct reading b)
{
	int64_t ns = b.ns - a.ns, ticks = (int64_t)(b.ticks - a.ticks);

	/* Processors have between 0.1 and 10 ticks per ns. */
	if (ns < NS_PER_MS || ticks < ns / 10 || ticks / 10 > ns)
		return 0;
	return (uint64_t)(((__int128)ns << AG_CLOCK_RATE_BITS) / ticks);
}

void ag_trace_clock_start(struct ag_trace_clock *clock, bool counter)
{
	struct reading a, b = { 0 };
	uint64_t rate = 0;

	if (counter) {
		a = b = read_both();
		for (unsigned i = 0; i < WAITS_MAX && b.ns - a.ns < MEASURE_MS * NS_PER_MS; i++) {
			(void)poll(NULL, 0, MEASURE_MS); /* the loop's condition checks the time */
			b = read_both();
		}
		rate = rate_between(a, b);
	}
	if (rate != 0) {
		__atomic_store_n(&clock->ticks, b.ticks, __ATOMIC_RELAXED);
		__atomic_store_n(&clock->ns, b.ns, __ATOMIC_RELAXED);
		clock->checked_ns = b.ns;
		clock->ahead_ns = 0;
	}
	__atomic_store_n(&clock->rate, rate, __ATOMIC_RELAXED);
}

void ag_trace_clock_check(struct ag_trace_clock *clock)
{
	struct reading now;
	int64_t ahead, drift, passed;

	if (__atomic_load_n(&clock->rate, __ATOMIC_RELAXED) == 0 ||
	    ag_now_ns() - clock->checked_ns < CHECK_NS)
		return;
	now = read_both();
	passed = now.ns - clock->checked_ns;
	ahead = ag_trace_clock_at(clock, clock->rate, now.ticks) - now.ns;
	drift = ahead - clock->ahead_ns;
	if (drift < 0)
		drift = -drift;
	if (drift > passed / TOLERANCE + NOISE_NS) {
		__atomic_store_n(&clock->rate, 0, __ATOMIC_RELAXED);
		return;
	}
	clock->checked_ns = now.ns;
	clock->ahead_ns = ahead;
}

#else

void ag_trace_clock_start(struct ag_trace_clock *clock, bool counter)
{
	(void)counter;
	__atomic_store_n(&clock->rate, 0, __ATOMIC_RELAXED);
}

void ag_trace_clock_check(struct ag_trace_clock *clock)
{
	(void)clock;
}

#endif
