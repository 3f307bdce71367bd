/*
 * Parser for hsperfdata 1.x and 2.0, the file in which a HotSpot JVM publishes its counters.
 *
 * Format 2.0 is defined by struct PerfDataPrologue in src/hotspot/share/runtime/perfMemory.hpp and
 * PerfDataEntry in perfData.cpp, format 1.x by the JDK's package sun.jvmstat.perfdata.monitor.v1_0.
 * The data is untrusted, and the JVM changes it while it is copied, so every offset is checked.
 */
#ifndef JTOOL_PROC_PERFDATA_H
#define JTOOL_PROC_PERFDATA_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/util.h"

/*
 * Callers read no more bytes than this of a file.  HotSpot fills the file from the start: its
 * counters take 10 to 30 KB, whatever -XX:PerfDataMemorySize is (32 KB by default, 4 MB at most).
 * The limit bounds the memory that a hostile process can cost jtool.
 */
#define PERFDATA_MAX (256u * 1024)

enum perf_units {
	PERF_UNIT_NONE = 1,
	PERF_UNIT_BYTES,
	PERF_UNIT_TICKS,
	PERF_UNIT_EVENTS,
	PERF_UNIT_STRING,
	PERF_UNIT_HERTZ,
};

struct perf_entry {
	const char *name;  /* points into the data, or to a constant */
	const char *text;  /* the value of a string counter; NULL for a number */
	int64_t number;
	uint32_t name_len;
	uint8_t units, variability;
};

struct perfdata {
	/* owned content of the file; NUL replaces the last byte of an unterminated string */
	char *data;
	size_t len; /* length of data in bytes */
	struct perf_entry *entries; /* in file order */
	size_t n, cap;
	int64_t modified; /* mod_time_stamp: when the JVM changed the file, in ticks */
};

/*
 * Parses the content of the file, and moves it to `out`: `bytes` is empty afterwards.  Stops at the
 * first inconsistent entry, and skips entries of unknown types.  Returns 0; or, with `bytes`
 * unchanged and an empty `out`, -EAGAIN while the JVM is still initialising the file, -EBADMSG if
 * the data is not hsperfdata, -EPROTONOSUPPORT if the version is unknown.
 */
int perfdata_parse(struct buf *bytes, struct perfdata *out) _must_check_;
void perfdata_release(struct perfdata *p);

/*
 * Adds the entries that the JDK's tools derive from the file itself: sun.perfdata.used, .size,
 * .overflow, .timestamp, .majorVersion and .minorVersion; but .size only if `p` has the whole file.
 * Call it only after a successful parse.
 */
void perfdata_add_file_entries(struct perfdata *p);

const struct perf_entry *perfdata_find(const struct perfdata *p, const char *name);
/* Returns the value of a string counter, or NULL if it is absent. */
const char *perfdata_text(const struct perfdata *p, const char *name);
/* Returns the value of a string counter, or NULL if it is absent or empty. */
const char *perfdata_nonempty_text(const struct perfdata *p, const char *name);
/* Returns the value of a numeric counter, or `absent` if there is no such counter. */
int64_t perfdata_number(const struct perfdata *p, const char *name, int64_t absent);

#endif
