/* A recording that is open for reading: a file that the user named, or a recording of a JVM. */
#ifndef JTOOL_CMD_JFR_JFR_RECORDING_H
#define JTOOL_CMD_JFR_JFR_RECORDING_H

#include "cmd/jfr/jfr.h"
#include "model/jfr/jfr_reader.h"

struct jfr_recording {
	const struct ctx *ctx;
	const char *path; /* for messages */
	int fd;
	struct read_ahead *ahead; /* NULL: the file is small, or no thread was started */
	uint64_t size;
	size_t max_memory;
	int64_t from_ns; /* time from which --last shows events; INT64_MIN: show all */
	int error;       /* EXIT_PARTIAL: parts of the recording were not read; else EXIT_DONE */
};

/*
 * Fills *rec from the caller's file, or else from a dump of the JVM's recordings.  `max_memory` is
 * the limit in bytes for the memory of jtool; 0: half of the free memory.  Close *rec in any case.
 */
int jfr_recording_open(struct jfr_recording *rec, const struct ctx *ctx, uint64_t max_memory,
		       struct err *err) _must_check_;
/*
 * Like jfr_recording_open(), but fills *rec from a new recording, which jfr_record_to() makes with
 * `words` and `duration_ms`.
 */
int jfr_recording_make(struct jfr_recording *rec, const struct ctx *ctx, const char *words,
		       unsigned duration_ms, struct err *err) _must_check_;
void jfr_recording_close(struct jfr_recording *rec);

/* Returns a reader at the start of the recording. */
struct jfr_reader *jfr_recording_reader(struct jfr_recording *rec);
/*
 * Frees the reader `r`.  If `r` could not read parts of the recording, sets rec->error to
 * EXIT_PARTIAL, and prints the reasons, unless an earlier reader of *rec could not read parts.
 */
void jfr_recording_done(struct jfr_recording *rec, struct jfr_reader *r);
/*
 * Returns the result of a command that read the recording.  If `rc` is -1, puts the name of the
 * user's file before the text of `err`, and returns -1.  If parts of the recording were not read,
 * sets `err` (EXIT_PARTIAL), and returns -1.  Otherwise returns `rc`.
 */
int jfr_recording_result(const struct jfr_recording *rec, int rc, struct err *err) _must_check_;

#endif
