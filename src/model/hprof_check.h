/*
 * Is a heap dump whole?  What the JVM says of it, and what its bytes say.
 *
 * HPROF: "JAVA PROFILE 1.0.2\0", u4 size of identifiers, u8 time; then records of u1 tag, u4
 * time, u4 length and that many bytes, the last of which is HEAP DUMP END, without any.  All
 * big-endian.  Source: src/hotspot/share/services/heapDumper.cpp.
 */
#ifndef JTOOL_MODEL_HPROF_CHECK_H
#define JTOOL_MODEL_HPROF_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* What this JVM's GC.heap_dump can do, from its own help on it. */
struct hprof_ways {
	bool gzip;      /* -gz, JDK 15 on (JDK-8237354) */
	bool overwrite; /* -overwrite, JDK 17 on (JDK-8267666): what exists may be written to */
	bool segments;  /* it writes files beside the dump first, with -parallel, JDK 22 on */
};
struct hprof_ways hprof_ways_parse(const char *help);

/* What it answers, which has code 0 whatever became of the dump. */
struct hprof_answer {
	bool done;
	bool incomplete;    /* it began to write, and failed */
	int64_t bytes;      /* that it wrote; -1: it does not say, as JDK 8 */
	const char *reason; /* not done: its words, in the text, `len` of them */
	size_t len;
};
struct hprof_answer hprof_answer_parse(const char *text);

/*
 * From record to record, by their lengths, to the end of a file of `size` bytes.  at: where to
 * read next; HPROF_READ bytes or up to the end of the file are enough to go on.
 */
struct hprof_walk {
	uint64_t at, size;
	bool ended; /* HEAP DUMP END was seen */
};
#define HPROF_READ 31 /* the header is the longest piece that must be seen whole */

/* 1: go on reading; 0: it is whole; -EBADMSG: it is not, at walk->at. */
int hprof_walk_step(struct hprof_walk *walk, const uint8_t *data, size_t len) _must_check_;

/* Does it begin as gzip does? */
bool hprof_is_gzip(const uint8_t *data, size_t len);

#endif
