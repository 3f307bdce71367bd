/*
 * One error, filled in where its cause is known, passed up untouched and printed by main alone.
 *
 * A function that can fail for a reason the user must know takes a `struct err *` last and
 * returns 0 or more when done, -1 when not; then the error is set.  Functions below that level
 * return 0 or a negative errno and know no struct err.
 */
#ifndef JTOOL_BASE_ERR_H
#define JTOOL_BASE_ERR_H

#include "base/util.h"

/* What the process exits with: a promise to scripts. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_ANSWER = 1,     /* the JVM or its agent answered with an error */
	EXIT_USAGE = 2,      /* the command line makes no sense */
	EXIT_TARGET = 3,     /* no such JVM, not a JVM, or an ambiguous name */
	EXIT_PERMISSION = 4, /* the kernel or the JVM does not let this user in */
	EXIT_ATTACH = 5,     /* attach disabled, no answer in time, socket refused */
	EXIT_AGENT = 6,      /* jtool's own agent could not be loaded, or failed */
	EXIT_PARTIAL = 7,    /* the target went away, or the result is not whole */
};

struct err {
	enum exit_code code; /* EXIT_DONE: no error yet */
	char text[1024];     /* what, why, and what to do; one line, no full stop */
};

/*
 * Record an error: exit code and text.  The first one wins, because it stood nearest to the
 * cause.  Always returns -1, so that `return err_set(err, …)` reads as it acts.
 */
int err_set(struct err *err, enum exit_code code, const char *fmt, ...) _printf_(3, 4);

/* Put "PREFIX: " before the text of an error that is set. */
void err_prefix(struct err *err, const char *fmt, ...) _printf_(2, 3);

#endif
