/*
 * Checks whether a heap dump is complete: parses the JVM's reply and the records of the dump.
 *
 * HPROF: "JAVA PROFILE 1.0.2\0", u4 size of identifiers, u8 time; then records of u1 tag, u4 time,
 * u4 length and that many bytes.  The last record is HEAP DUMP END, which is empty.  All numbers
 * are big-endian.  Source: src/hotspot/share/services/heapDumper.cpp.
 */
#ifndef JTOOL_MODEL_HPROF_HPROF_CHECK_H
#define JTOOL_MODEL_HPROF_HPROF_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* Features of this JVM's GC.heap_dump, parsed from its help. */
struct hprof_features {
	bool gzip;      /* -gz, since JDK 15 (JDK-8237354) */
	bool overwrite; /* -overwrite, since JDK 17 (JDK-8267666): can write to an existing file */
	bool segments;  /* -parallel, since JDK 22: it first writes segment files beside the dump */
};
struct hprof_features hprof_features_parse(const char *help);

/* The JVM's reply, which has code 0 even if the dump failed. */
struct hprof_answer {
	bool done;
	bool incomplete;    /* the dump was begun, but failed */
	int64_t bytes;      /* number of bytes written; -1: not reported (JDK 8) */
	const char *reason; /* if not done: `len` bytes of the text; else NULL */
	size_t len;
};
struct hprof_answer hprof_answer_parse(const char *text);

/* Position in a file of `size` bytes.  A step needs HPROF_READ bytes from `at`, or the rest. */
struct hprof_walk {
	uint64_t at, size;
	bool ended; /* HEAP DUMP END was seen */
};
#define HPROF_READ 31 /* bytes of the header, which is read at once */

/* Advances walk->at.  Returns 1 to continue, 0 if the dump is complete, -EBADMSG if invalid. */
int hprof_walk_step(struct hprof_walk *walk, const uint8_t *data, size_t len) _must_check_;

/*
 * The same for a dump that arrives in pieces: begin with all zero.  Uses each record's length to
 * find the next one, and does not read its content.  `gzip`: only the start of the data is checked.
 */
struct hprof_stream {
	bool gzip;
	/* private */
	bool has_header, ended;
	uint64_t skip;            /* bytes of the record that are still to come */
	uint8_t head[HPROF_READ]; /* the start of the header or of a record */
	size_t n;                 /* bytes in `head` */
};
/* Takes the next piece.  Returns 0, or -EBADMSG as soon as it is certain that this is no dump. */
int hprof_stream_take(struct hprof_stream *s, const uint8_t *data, size_t len) _must_check_;
/* Returns whether the dump may end here; of compressed data, this is not known. */
bool hprof_stream_is_complete(const struct hprof_stream *s);

/* Returns whether the data begins with a gzip header. */
bool hprof_is_gzip(const uint8_t *data, size_t len);

#endif
