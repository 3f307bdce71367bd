/* Declarations shared by the files of the command jfr. */
#ifndef JTOOL_CMD_JFR_JFR_H
#define JTOOL_CMD_JFR_JFR_H

#include <limits.h>
#include <time.h>

#include "fileio/atomic_file.h"
#include "cli/command.h"
#include "model/jfr/jfr_settings.h"
#include "model/jfr/jfr_text.h"

#define JFR_UNSET UINT_MAX /* a duration has this value if -d was not given */

struct jfr_opts {
	unsigned duration_ms; /* option of `jfr record`; or JFR_UNSET */
	bool force;
	const char *filter;   /* option of `jfr view`; NULL: not given */
	unsigned last_ms;     /* option of `jfr view`; 0: not given */
	unsigned limit;
	uint64_t max_memory;  /* option of `jfr view`: bytes; 0: half of the free memory */
};

/* The words on the command line after the subcommand. */
struct jfr_request {
	const char *file; /* path of a file of the caller; NULL: none */
	const char *name; /* the recording's name; NULL: none */
	struct buf words; /* the other words, each after a space, and quoted for a JFR.* command */
};

struct jfr_answer {
	int code;
	struct buf text;
};

#define JFR_ANSWER_INIT { 0, BUF_INIT }

/*
 * Runs a JFR.* command.  Returns 0 if the JVM has answered; answer->code is 0 if the answer is
 * positive.  Returns -1 with err set if the JVM has not answered.
 */
int jfr_ask(const struct ctx *ctx, const char *line, struct jfr_answer *answer, struct err *err)
	_must_check_;
/*
 * Sets an error (EXIT_ANSWER) for a negative answer, for example "JFR.stop: Could not find nix."
 * Returns -1.
 */
int jfr_refusal(const char *line, const struct jfr_answer *answer, struct err *err);
/* Like jfr_ask(), but returns -1 with err set also for a negative answer.  `answer` may be NULL. */
int jfr_do(const struct ctx *ctx, enum jfr_verb verb, const char *line,
	   struct jfr_answer *answer, struct err *err) _must_check_;

/*
 * Runs JFR.configure, and parses the settings in the answer.  `words` has the arguments, each with
 * a space before it, such as " stackdepth=64".  "" requests all settings.  `known` is false in a
 * setting that is not in the answer.  Release *s also after an error.
 */
int jfr_ask_settings(const struct ctx *ctx, const char *words, struct jfr_settings *s,
		     struct err *err) _must_check_;

/*
 * Returns 0; or -1 with err set if the disk of the JVM's JFR repository is nearly full.  If JFR
 * cannot write to its repository, JDK 11 and later end the JVM: "An irrecoverable error in Jfr.
 * Shutting down VM..." (JfrJavaSupport::abort).
 */
int jfr_check_repository(const struct ctx *ctx, struct err *err) _must_check_;

/*
 * Opens the caller's output file.  Returns 0, or -1 with err set.  Call this before any request to
 * the JVM, so that the JVM does no work if the file cannot be opened.
 */
int jfr_open_file(const struct ctx *ctx, const char *path, struct atomic_file *out,
		  struct err *err) _must_check_;
/*
 * Makes the JVM dump recordings to a staged file, and copies that file to `out`.  `words` select
 * the recordings.  Checks that `out` is complete, but does not commit it.  `since` is the start of
 * the recordings (0: unknown), from which the size of the dump is estimated.  Returns 0, or -1 with
 * err set.
 */
int jfr_fetch(const struct ctx *ctx, const char *words, time_t since, struct atomic_file *out,
	      struct err *err) _must_check_;
/*
 * Starts a recording with `words`, which are arguments of JFR.start, each after a space.  Waits for
 * duration_ms (JFR_UNSET: 30 s) or a signal, then copies the recording to `out` and stops the
 * recording.  Does not commit `out`.  If jtool is killed, the JVM discards the recording when 60 s
 * plus twice the timeout have passed after duration_ms.
 */
int jfr_record_to(const struct ctx *ctx, const char *words, unsigned duration_ms,
		  struct atomic_file *out, struct err *err) _must_check_;
/* Returns 0, or -1 with err set if the value of -d is shorter than 1 ms. */
int jfr_check_duration(unsigned duration_ms, struct err *err) _must_check_;
/* Commits `out`, and prints its size. */
int jfr_commit(const struct ctx *ctx, const char *path, struct atomic_file *out,
	       struct err *err) _must_check_;

/*
 * Returns whether `target` has the suffix of a recording's file.  No name of a JVM has this suffix,
 * so `target` is then a file.
 */
bool jfr_is_recording(const char *target);

/* Returns the name of the i-th view, for completion; or NULL if there are not so many views. */
const char *jfr_view_word(size_t i);

typedef int jfr_run(const struct ctx *ctx, const struct jfr_request *req, struct err *err);
jfr_run jfr_configure; /* jfr_configure.c */
jfr_run jfr_record;    /* jfr_record.c */
jfr_run jfr_view;      /* jfr_view.c */

#endif
