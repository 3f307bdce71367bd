/* Declarations shared by the files of the command jfr. */
#ifndef JTOOL_CMD_JFR_JFR_H
#define JTOOL_CMD_JFR_JFR_H

#include <time.h>

#include "fileio/atomic_file.h"
#include "cli/command.h"
#include "model/jfr/jfr_settings.h"
#include "model/jfr/jfr_text.h"

struct jfr_opts {
	unsigned duration_ms; /* of record; 0: not given */
	bool force;
	const char *filter;   /* of view; NULL: not given */
	unsigned last_ms;     /* of view; 0: not given */
	unsigned limit;
	uint64_t max_memory;  /* of view; 0: half of the free memory */
};

/* The words after the subcommand. */
struct jfr_request {
	const char *file; /* a path of the caller; NULL: none */
	const char *name; /* the recording's name; NULL: none */
	struct buf words; /* the other words, quoted for a JFR.* command, each after a space */
};

struct jfr_answer {
	int code;
	struct buf text;
};

#define JFR_ANSWER_INIT { 0, BUF_INIT }

/* Runs a JFR.* command.  Returns -1 with err set only if there is no answer. */
int jfr_ask(const struct ctx *ctx, const char *line, struct jfr_answer *answer, struct err *err)
	_must_check_;
/* Turns a negative answer into an error (EXIT_ANSWER): "JFR.stop: Could not find nix." */
int jfr_refusal(const char *line, const struct jfr_answer *answer, struct err *err);
/* Like jfr_ask(), but a negative answer is an error.  `answer` may be NULL. */
int jfr_do(const struct ctx *ctx, enum jfr_verb verb, const char *line,
	   struct jfr_answer *answer, struct err *err) _must_check_;

/*
 * Runs JFR.configure with these words, each after a space, and parses the settings in the answer;
 * "" requests all settings.  Those missing in the answer are not `known`.  Always release *s.
 */
int jfr_ask_settings(const struct ctx *ctx, const char *words, struct jfr_settings *s,
		     struct err *err) _must_check_;

/*
 * Fails if the JVM's repository is nearly full.  If JFR cannot write, JDK 11 and later end the JVM:
 * "An irrecoverable error in Jfr. Shutting down VM..." (JfrJavaSupport::abort)
 */
int jfr_check_repository(const struct ctx *ctx, struct err *err) _must_check_;

/* Opens the caller's file; call it before the JVM does any work. */
int jfr_open_file(const struct ctx *ctx, const char *path, struct atomic_file *out,
		  struct err *err) _must_check_;
/*
 * Dumps the recordings that `words` choose into a staged file, copies it to `out`, and removes it.
 * Checks that `out` is complete but does not commit it.  `since`: recording's start; 0: unknown.
 */
int jfr_fetch(const struct ctx *ctx, const char *words, time_t since, struct atomic_file *out,
	      struct err *err) _must_check_;
/* Commits `out` and prints its size. */
int jfr_commit(const struct ctx *ctx, const char *path, struct atomic_file *out,
	       struct err *err) _must_check_;

/* Returns the name of view number i, or NULL after the last. */
const char *jfr_view_word(size_t i);

typedef int jfr_run(const struct ctx *ctx, const struct jfr_request *req, struct err *err);
jfr_run jfr_configure; /* jfr_configure.c */
jfr_run jfr_record;    /* jfr_record.c */
jfr_run jfr_view;      /* jfr_view.c */

#endif
