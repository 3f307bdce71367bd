/*
 * What a JVM did between two readings of its counters: the share of time in collections and
 * safepoints, the rate of allocation, its CPU.  Pure.
 */
#ifndef JTOOL_MODEL_TOP_VM_RATES_H
#define JTOOL_MODEL_TOP_VM_RATES_H

#include <stdbool.h>
#include <stdint.h>

/* One reading.  Totals are since the start of the JVM; sizes are in bytes.  -1: unknown. */
struct vm_reading {
	double at_s;         /* monotonic time */
	double cpu_s;        /* user and system time of the process */
	double throttled_s;  /* of its control group */
	double gc_s;         /* in collections */
	double safepoint_s;
	int64_t collections; /* that empty eden */
	int64_t all_collections;
	int64_t heap_used, heap_committed;
	int64_t eden_used, eden_capacity; /* -1: a collector without eden */
	bool used_lags; /* heap_used changes only in a collection */
};

/* Shares are in percent of the time between two readings; of the CPU, 100 is one CPU. */
struct vm_rates {
	double seconds; /* between the readings; 0: there was only one so far */
	double cpu_percent, throttled_percent, gc_percent, safepoint_percent;
	double allocation; /* bytes a second */
	int64_t heap_used, heap_committed;
	int64_t heap_after; /* heap in use after the last collection */
};

/* The state between readings; initially zero. */
struct vm_history {
	bool has_last;
	struct vm_reading last;
	bool eden_moves;   /* the counter of eden changes between collections, too */
	bool is_timed;     /* collected_s is known */
	double collected_s; /* when a reading last saw a new collection */
	double window_s, window_bytes; /* allocated since window_s, if eden does not move */
	double allocation; /* the last known rate; only if has_allocation */
	bool has_allocation;
	int64_t heap_after;
	bool has_after;
};

void vm_rates_update(struct vm_history *h, const struct vm_reading *now, struct vm_rates *out);

#endif
