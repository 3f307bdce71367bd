/*
 * Checks that a heap dump is complete: parses the JVM's reply and the records of the dump.
 *
 * The format HPROF (src/hotspot/share/services/heapDumper.cpp); all numbers are big-endian:
 *     header          "JAVA PROFILE 1.0.2\0", u4 size of identifiers, u8 time
 *     each record     u1 tag, u4 time, u4 length, then `length` bytes
 *     last record     HEAP DUMP END, whose length is 0
 */
#ifndef JTOOL_MODEL_HPROF_HPROF_CHECK_H
#define JTOOL_MODEL_HPROF_HPROF_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* The options that GC.heap_dump has in this JVM, parsed from the command's help. */
struct hprof_features {
	bool gzip;      /* -gz, since JDK 15 (JDK-8237354) */
	/* -overwrite, since JDK 17 (JDK-8267666), makes the JVM write to an existing file */
	bool overwrite;
	/*
	 * -parallel, since JDK 22, makes the JVM write segment files in the dump's directory first
	 */
	bool segments;
};
struct hprof_features hprof_features_parse(const char *help);

/* The JVM's reply to a dump request.  Its status code is 0 even if the dump failed. */
struct hprof_answer {
	bool done;
	bool incomplete;    /* the dump was begun, but failed */
	int64_t bytes;      /* number of bytes written; -1: not reported (JDK 8) */
	const char *reason; /* why the dump failed (`len` bytes of the reply); NULL if done */
	size_t len;
};
struct hprof_answer hprof_answer_parse(const char *text);

/*
 * Position in a file of `size` bytes.  hprof_walk_step() needs at least HPROF_READ bytes from
 * offset `at` on, or all bytes up to the end of the file if there are fewer.
 */
struct hprof_walk {
	uint64_t at, size;
	bool ended; /* the last record, HEAP DUMP END, was seen */
};
#define HPROF_READ 31 /* bytes of the header; a record's tag, time and length take fewer */

/*
 * Advances walk->at beyond the records that begin in `data`, which has the bytes of the file from
 * walk->at on.  Returns 1 to continue at the new walk->at; 0 if the dump is complete; or -EBADMSG.
 */
int hprof_walk_step(struct hprof_walk *walk, const uint8_t *data, size_t len) _must_check_;

/*
 * Checks a dump that arrives in pieces.  The checks are those of hprof_walk_step().  Begin with a
 * zero-initialised struct.  Skips the content of a record by the record's length.  If `gzip` is
 * set, checks only that the data begins with a gzip header.
 */
struct hprof_stream {
	bool gzip;
	/* Used by hprof_check.c only. */
	bool has_header, ended;
	uint64_t skip;            /* bytes of the current record that have not arrived yet */
	uint8_t head[HPROF_READ]; /* the start of the header or of a record */
	size_t n;                 /* bytes in `head` */
};
/*
 * Checks the next piece.  Returns 0, or -EBADMSG as soon as it is certain that the data is not a
 * heap dump.
 */
int hprof_stream_take(struct hprof_stream *s, const uint8_t *data, size_t len) _must_check_;
/*
 * Returns true if the pieces so far are a complete dump.  If s->gzip is set, always returns true,
 * because only the start of compressed data is checked.
 */
bool hprof_stream_is_complete(const struct hprof_stream *s);

/* Returns true if the data begins with a gzip header. */
bool hprof_is_gzip(const uint8_t *data, size_t len);

#endif
