/*
 * The activity of a JVM between two readings of its counters: the share of time in collections and
 * safepoints, the allocation rate, and CPU.  Does no I/O.
 */
#ifndef JTOOL_MODEL_TOP_VM_RATES_H
#define JTOOL_MODEL_TOP_VM_RATES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The values of one reading.  Totals count from the start of the JVM.  Times are in seconds, sizes
 * in bytes; -1: unknown.
 */
struct vm_reading {
	double at_s;         /* time of the reading, on the monotonic clock */
	double cpu_s;        /* user and system time of the process */
	double throttled_s;  /* time for which the process's control group was throttled */
	double gc_s;         /* time in collections */
	double safepoint_s;
	int64_t collections;     /* number of those collections that empty eden */
	int64_t all_collections; /* number of all collections */
	int64_t heap_used, heap_committed;
	/* bytes of heap in use after the last collection; -1: not in the reading */
	int64_t heap_after;
	int64_t eden_used, eden_capacity; /* -1: the collector has no eden */
	bool used_lags; /* the counter for heap_used changes only in a collection */
};

/*
 * The activity between two readings.  The percentages are of the time between the readings; 100 %
 * of CPU is one CPU.
 */
struct vm_rates {
	double seconds; /* time between the two readings; 0: only one reading so far */
	double cpu_percent, throttled_percent, gc_percent, safepoint_percent;
	double allocation; /* bytes per second */
	int64_t heap_used, heap_committed;
	int64_t heap_after; /* bytes of heap in use after the last collection */
};

/* The state that vm_rates_update() needs of earlier readings.  Initialise it with zeros. */
struct vm_history {
	bool has_last;
	struct vm_reading last;
	bool eden_moves;   /* a reading has shown that eden's counter changes between collections */
	bool is_timed;     /* collected_s and window_s are set */
	double collected_s; /* time of the last reading that has shown a new collection */
	/*
	 * Used if eden's counter changes only in collections: since the time `window_s`, the JVM
	 * has allocated `window_bytes` bytes.
	 */
	double window_s, window_bytes;
	double allocation; /* the last rate that could be computed, if has_allocation is set */
	bool has_allocation;
	int64_t heap_after;
	bool has_after;
};

void vm_rates_update(struct vm_history *h, const struct vm_reading *now, struct vm_rates *out);

#endif
