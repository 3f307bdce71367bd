/*
 * What the parts of the command jfr share.
 */
#ifndef JTOOL_CMD_JFR_H
#define JTOOL_CMD_JFR_H

#include <time.h>

#include "base/outfile.h"
#include "cmd.h"
#include "model/jfr_settings.h"
#include "model/jfr_text.h"

struct jfr_opts {
	unsigned duration_ms; /* record; 0: not given */
	bool force;
};

/* The words behind the subcommand. */
struct jfr_request {
	const char *file; /* the caller's; NULL: none */
	const char *name; /* of the recording, as it was given; NULL: none */
	struct buf words; /* the rest, as it follows a JFR.* command, with a blank in front */
};

struct jfr_answer {
	int code;
	struct buf text;
};

#define JFR_ANSWER_INIT { 0, BUF_INIT }

/* Run a JFR.* command.  -1 only when there is no answer. */
int jfr_ask(const struct ctx *ctx, const char *line, struct jfr_answer *answer, struct err *err)
	_must_check_;
/* Make an answer that says no an error (EXIT_ANSWER): "JFR.stop: Could not find nix." */
int jfr_refusal(const char *line, const struct jfr_answer *answer, struct err *err);
/* Both, with the answer left to whoever wants to look at it again; NULL: nobody. */
int jfr_do(const struct ctx *ctx, enum jfr_verb verb, const char *line,
	   struct jfr_answer *answer, struct err *err) _must_check_;

/*
 * The settings that JFR.configure answers with when it gets these words (each with a blank in
 * front): all of them for "".  To be released in any case; what was not told is not known.
 */
int jfr_ask_settings(const struct ctx *ctx, const char *words, struct jfr_settings *s,
		     struct err *err) _must_check_;

/*
 * Refuse when the JVM's repository has hardly any room left: where JFR cannot write, JDK 11 and
 * later end the JVM: "An irrecoverable error in Jfr. Shutting down VM..." (JfrJavaSupport::abort)
 */
int jfr_check_repository(const struct ctx *ctx, struct err *err) _must_check_;

/* Open the caller's file: refused, if need be, before the JVM is asked for anything. */
int jfr_open_file(const struct ctx *ctx, const char *path, struct outfile *out, struct err *err)
	_must_check_;
/*
 * Dump the recordings that `words` choose into a file of the target's, copy it to `out` and take
 * it away there.  It is whole then, but not committed.  since: when the recording began, if that
 * is known, else 0.
 */
int jfr_fetch(const struct ctx *ctx, const char *words, time_t since, struct outfile *out,
	      struct err *err) _must_check_;
/* Commit it and say how long it is. */
int jfr_commit(const struct ctx *ctx, const char *path, struct outfile *out, struct err *err)
	_must_check_;

typedef int jfr_run(const struct ctx *ctx, const struct jfr_request *req, struct err *err);
jfr_run jfr_configure; /* jfr_configure.c */
jfr_run jfr_record;    /* jfr_record.c */

#endif
