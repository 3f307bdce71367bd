/* A temporary directory that a test fills with shell commands. */
#ifndef JTOOL_TESTS_SHELL_H
#define JTOOL_TESTS_SHELL_H

#include <check.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/xalloc.h"

static char dir[] = "/tmp/jtool-unit.XXXXXX"; /* for mkdtemp(3) */

/* Runs a command line in the directory; it must succeed. */
static void shell(const char *fmt, ...) _printf_(1, 2);
static void shell(const char *fmt, ...)
{
	_cleanup_free_ char *command = NULL, *script = NULL;
	va_list ap;

	va_start(ap, fmt);
	ck_assert_int_ge(vasprintf(&command, fmt, ap), 0);
	va_end(ap);
	script = xasprintf("cd %s && %s", dir, command);
	ck_assert_int_eq(system(script), 0);
}

#endif
