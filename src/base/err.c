#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

#define OBJECT_MAX 256 /* bytes for the name of a process, thread or descriptor in an error text */

/*
 * Replaces control characters, because the text may contain names from a target, and must be one
 * line.
 */
static void sanitize(struct err *err)
{
	_cleanup_buf_ struct buf safe = BUF_INIT;

	for (char *p = err->text; *p; p++) { /* a JVM's error may have several lines */
		if (strchr("\t\n\r", *p))
			*p = ' ';
	}
	printable_add(&safe, err->text, strlen(err->text));
	(void)strlcpy(err->text, buf_str(&safe), sizeof(err->text));
}

int err_set(struct err *err, enum exit_code code, const char *fmt, ...)
{
	va_list ap;

	if (err->code != EXIT_DONE)
		return -1;
	err->code = code;
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap); /* a truncated text is acceptable */
	va_end(ap);
	sanitize(err);
	return -1;
}

int err_stdout(struct err *err, int error)
{
	return err_set(err, error == -EPIPE ? EXIT_SIGPIPE : EXIT_PARTIAL,
		       "cannot write the result to stdout: %s; redirect it to another file",
		       strerror(-error));
}

int err_json_and_stdout(struct err *err)
{
	return err_set(err, EXIT_USAGE,
		       "--json cannot be combined with '-': both write to stdout; name a file");
}

int err_not_started(struct err *err, enum exit_code code, int error, const char *fmt, ...)
{
	char what[OBJECT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(err, code,
		       "cannot start %s: %s; allow more processes (ulimit -u, pids.max), or free "
		       "memory", what, strerror(-error));
}

int err_killed(struct err *err, enum exit_code code, const char *fmt, ...)
{
	char what[OBJECT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(err, code,
		       "the jtool process that %s was killed; if memory ran out, free some or "
		       "raise the limit of jtool's control group, then try again", what);
}

int err_no_descriptor(struct err *err, enum exit_code code, int error, const char *fmt, ...)
{
	char what[OBJECT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(err, code,
		       "cannot create %s: %s; if too many files are open, raise ulimit -n", what,
		       strerror(-error));
}

void err_prefix(struct err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	if (err->code == EXIT_DONE)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)strlcat(text, ": ", sizeof(text));
	(void)strlcat(text, err->text, sizeof(text));
	memcpy(err->text, text, sizeof(text));
	sanitize(err);
}
