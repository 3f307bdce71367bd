/* Declarations shared by the files of the command profile. */
#ifndef JTOOL_CMD_PROFILE_PROFILE_H
#define JTOOL_CMD_PROFILE_PROFILE_H

#include "cmd/jfr/jfr_recording.h"
#include "cmd/stack_files.h"
#include "model/profile/profile.h"

struct profile_opts {
	int event;            /* enum profile_kind */
	unsigned duration_ms; /* JFR_UNSET: not given */
	uint64_t interval_ns; /* 0: not given */
	unsigned depth;       /* 0: all frames */
	unsigned limit;
	bool threads, no_lines, force;
	const char *paths[STACKFILE_KINDS]; /* paths of the output files; NULL: not given */
	const char *diff;
};

/*
 * Makes a recording in the JVM, and opens a copy of the recording's file as *rec.  ctx->opts
 * determines what is recorded.  Other recordings may run in the JVM at the same time.  The caller
 * closes *rec, even after an error.
 */
int profile_record(const struct ctx *ctx, struct jfr_recording *rec, struct err *err) _must_check_;

/*
 * Returns, in ns, the time between two samples of the recording that profile_record() makes; for
 * locks and I/O, the shortest wait that the recording contains.
 */
uint64_t profile_interval_ns(const struct profile_opts *opts);

/*
 * Reads from the recording the profile that the options choose.  The caller releases *p, even after
 * an error.
 */
int profile_read(struct jfr_recording *rec, struct profile *p, struct err *err) _must_check_;

/*
 * Reads the profile of --diff, and computes its totals.  The caller releases *base, even after an
 * error.
 */
int profile_read_base(const struct ctx *ctx, struct profile *base, struct err *err) _must_check_;

/*
 * Prints the profile and notices about its gaps (enum profile_gap), and writes the files of stacks.
 */
int profile_show(const struct ctx *ctx, struct profile *p, struct stack_files *files,
		 struct err *err) _must_check_;

#endif
