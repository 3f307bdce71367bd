/*
 * Reads a profile from a flight recording: the events of one kind, by their stacks.  The kinds and
 * their event types follow.  The types after "else" are used if the recording has no event of the
 * types before "else".
 *
 *     cpu         CPUTimeSample (since JDK 25); else ExecutionSample and NativeMethodSample; else
 *                 WallClockSample of async-profiler, but only of running threads
 *     wall        WallClockSample of async-profiler; else ExecutionSample, NativeMethodSample,
 *                 and the events of threads that sleep, park or wait for a monitor
 *     lock        JavaMonitorEnter, and ThreadPark for a lock
 *     alloc       ObjectAllocationSample (since JDK 16); else ObjectAllocation{InNew,Outside}TLAB
 *     io          reads and writes of files and sockets
 *     exceptions  JavaExceptionThrow
 */
#ifndef JTOOL_MODEL_JFR_PROFILE_JFR_PROFILE_H
#define JTOOL_MODEL_JFR_PROFILE_JFR_PROFILE_H

#include "model/jfr/jfr_scan.h"
#include "model/profile/profile.h"

struct jfr_profile_request {
	enum profile_kind kind;
	bool by_thread;
	unsigned depth; /* a stack is cut to this number of innermost frames; 0: all are used */
};

/*
 * Fills *p from all chunks that `r` has not read yet.  The caller releases *p, even after an error.
 * Returns -1 with err set if the recording cannot be read.  p->source is NULL if the recording has
 * no events of the kind.
 */
int jfr_profile_read(struct jfr_reader *r, const struct jfr_profile_request *req,
		     struct profile *p, struct err *err) _must_check_;

/*
 * Appends settings, in the XML format of JFR (.jfc), for a recording from which a profile of this
 * kind can be read.  `release` is the feature release of the JDK; 0: unknown.  `interval_ns` is the
 * time between two samples; for events that are not samples, the duration of the shortest event
 * that is recorded.
 */
void jfr_profile_settings(struct buf *out, enum profile_kind kind, int release,
			  uint64_t interval_ns);

#endif
