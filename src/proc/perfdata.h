/*
 * hsperfdata: the counters that a HotSpot JVM publishes in a file, versions 1.x and 2.0.
 *
 * Bytes in, entries out; no file is opened here.  The layout is that of
 * src/hotspot/share/runtime/perfMemory.hpp (struct PerfDataPrologue) and perfData.cpp
 * (PerfDataEntry) for 2.0, and of the JDK's sun.jvmstat.perfdata.monitor.v1_0 for 1.0.
 * The data is hostile and changes while it is copied: every offset is checked.
 */
#ifndef JTOOL_PROC_PERFDATA_H
#define JTOOL_PROC_PERFDATA_H

#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

enum perf_units {
	PERF_UNIT_NONE = 1,
	PERF_UNIT_BYTES,
	PERF_UNIT_TICKS,
	PERF_UNIT_EVENTS,
	PERF_UNIT_STRING,
	PERF_UNIT_HERTZ,
};

struct perf_entry {
	const char *name;  /* NUL-terminated; in the copy of the data, or constant */
	const char *text;  /* a string counter, NUL-terminated; NULL for a number */
	int64_t number;
	uint8_t units, variability;
};

struct perfdata {
	char *data; /* owned copy; the last byte of a text that had no NUL is one now */
	size_t len; /* of the data */
	struct perf_entry *entries; /* in file order */
	size_t n, cap;
	int64_t modified; /* mod_time_stamp, in ticks */
};

/*
 * Parse a copy of the file.  0; -EAGAIN when the JVM is still setting it up; -EBADMSG when it
 * is no hsperfdata; -EPROTONOSUPPORT for a version that is not known.  On failure out is empty.
 * Entries behind one that makes no sense are left out, as is an entry of a type that no JVM has.
 */
int perfdata_parse(const void *data, size_t len, struct perfdata *out) _must_check_;
void perfdata_release(struct perfdata *p);

/*
 * Add what the JDK's tools show of the file itself, as if the JVM had counted that, too:
 * sun.perfdata.used, .size, .overflow, .timestamp, .majorVersion, .minorVersion.  p was parsed.
 */
void perfdata_add_own(struct perfdata *p);

const struct perf_entry *perfdata_find(const struct perfdata *p, const char *name);
/* The text of a string counter; NULL when there is none of that name. */
const char *perfdata_text(const struct perfdata *p, const char *name);
/* The same; NULL when it is empty, too. */
const char *perfdata_words(const struct perfdata *p, const char *name);
/* The value of a number; `absent` when there is none of that name. */
int64_t perfdata_number(const struct perfdata *p, const char *name, int64_t absent);

#endif
