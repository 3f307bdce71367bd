/* Parses command lines of the java launcher, and VM flags.  Does no I/O. */
#ifndef JTOOL_DISCOVER_CMDLINE_H
#define JTOOL_DISCOVER_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

struct cmdline {
	/* main class, jar or module/class; for a launcher other than java, the launcher's path */
	char *main;
	char *args;  /* arguments, joined by spaces */
	char *flags; /* VM options except the class path, joined by spaces */
};

/*
 * Parses the content of /proc/PID/cmdline: NUL-terminated words.  Parts that are missing are NULL
 * in *out.  Argument files (@file) are not opened.
 */
void cmdline_parse(const char *words, size_t len, struct cmdline *out);
void cmdline_release(struct cmdline *c);

/*
 * Returns the value of an environment variable from the content of /proc/PID/environ, which is
 * NUL-terminated words NAME=VALUE; NULL if the variable is not set.  The caller frees it.
 */
char *environ_value(const char *env, size_t len, const char *name);

/*
 * Returns true if the last of all -XX:+NAME and -XX:-NAME in `flags`, which may be NULL, is
 * -XX:+NAME.
 */
bool flags_is_on(const char *flags, const char *name);
/*
 * Returns the text after `prefix` in the last flag that starts with it, or NULL.  The caller frees
 * it.
 */
char *flags_value(const char *flags, const char *prefix);
/* Like flags_value(), but uses the last flag that starts with `prefix` or with `other`. */
char *flags_value_of_two(const char *flags, const char *prefix, const char *other);

#endif
