/*
 * An error: a message and an exit code.  The function that knows the cause sets it; main prints it.
 *
 * A function whose failure the user must understand takes a `struct err *` as its last parameter.
 * It returns 0 or more, or -1 with err set.  Other functions return 0 or a negative errno, and
 * their callers write the message.
 */
#ifndef JTOOL_BASE_ERR_H
#define JTOOL_BASE_ERR_H

#include <stdbool.h>

#include "base/util.h"

/* The exit codes of jtool.  Their numbers never change, because scripts depend on them. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_ANSWER = 1,     /* the JVM or its agent answered with an error, or "no" */
	EXIT_USAGE = 2,      /* invalid command line, or an input file of the user is invalid */
	EXIT_TARGET = 3,     /* no such JVM, not a JVM, or an ambiguous name */
	EXIT_PERMISSION = 4, /* the kernel or the JVM denies this user access */
	EXIT_ATTACH = 5,     /* attach disabled, no answer in time, or connection refused */
	EXIT_AGENT = 6,      /* jtool's agent could not be loaded, or failed */
	EXIT_PARTIAL = 7,    /* the target exited, or the result is incomplete */
	/* the reader of jtool's stdout has closed the pipe; main ends jtool by SIGPIPE, silently */
	EXIT_SIGPIPE = 141,
};

struct err {
	enum exit_code code; /* EXIT_DONE: no error yet */
	bool is_verdict;     /* the result is complete, and it is "no" (EXIT_ANSWER) */
	char text[1024];     /* what, why, and what to do; one line, no full stop */
};

/*
 * Sets exit code and text, unless err has an error already, because the first error is nearest to
 * the cause.  Always returns -1, for `return err_set(err, …)`.
 */
int err_set(struct err *err, enum exit_code code, const char *fmt, ...) _printf_(3, 4);

/* Sets err: the result cannot be written to stdout.  `error` is a negative errno.  Returns -1. */
int err_stdout(struct err *err, int error);
/* Sets err for a command line that has both --json and '-' (result to stdout).  Returns -1. */
int err_json_and_stdout(struct err *err);

/*
 * These functions set err for causes that occur in several parts of jtool: a process or thread
 * cannot be started, a process of jtool was killed, or a descriptor cannot be created.  The format
 * names the process, thread or descriptor.  `error` is a negative errno.  The functions return -1.
 */
int err_not_started(struct err *err, enum exit_code code, int error, const char *fmt, ...)
	_printf_(4, 5);
int err_killed(struct err *err, enum exit_code code, const char *fmt, ...) _printf_(3, 4);
int err_no_descriptor(struct err *err, enum exit_code code, int error, const char *fmt, ...)
	_printf_(4, 5);

/* Inserts "PREFIX: " before the text; does nothing if err has no error. */
void err_prefix(struct err *err, const char *fmt, ...) _printf_(2, 3);

#endif
