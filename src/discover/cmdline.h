/* Parses command lines of the java launcher and VM flags.  Pure. */
#ifndef JTOOL_DISCOVER_CMDLINE_H
#define JTOOL_DISCOVER_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

struct cmdline {
	char *main;  /* main class, jar or module/class; or path of a launcher other than java */
	char *args;  /* arguments, joined by spaces */
	char *flags; /* VM options except the class path, joined by spaces */
};

/*
 * Parses the content of /proc/PID/cmdline: NUL-terminated words.  Missing parts are NULL.  Argument
 * files (@file) are not opened.
 */
void cmdline_parse(const char *words, size_t len, struct cmdline *out);
void cmdline_release(struct cmdline *c);

/*
 * Returns the allocated value of a variable from /proc/PID/environ, which has NUL-terminated words
 * NAME=VALUE; NULL if it is not set.
 */
char *environ_value(const char *env, size_t len, const char *name);

/* Returns true if -XX:+NAME is the last -XX:±NAME in `flags`, which may be NULL. */
bool flags_is_on(const char *flags, const char *name);
/* Returns the allocated text after `prefix` in the last flag that starts with it, or NULL. */
char *flags_value(const char *flags, const char *prefix);

#endif
