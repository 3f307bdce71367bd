/*
 * Command lines of the java launcher, and VM flags.  Pure: texts in, texts out.
 */
#ifndef JTOOL_TARGET_CMDLINE_H
#define JTOOL_TARGET_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

struct cmdline {
	char *main;  /* main class, jar or module/class; a launcher of another name: its path */
	char *args;  /* what follows it, joined by blanks */
	char *flags; /* what the VM gets, joined by blanks: all options but the class path */
};

/*
 * words is the content of /proc/PID/cmdline: each ends with a NUL.  What is not there is NULL.
 * Files of arguments (@file) are not opened.
 */
void cmdline_parse(const char *words, size_t len, struct cmdline *out);
void cmdline_release(struct cmdline *c);

/*
 * The value of a variable, allocated, from the content of /proc/PID/environ: NAME=VALUE words
 * that each end with a NUL.  NULL: it is not there.
 */
char *environ_value(const char *env, size_t len, const char *name);

/* -XX:+NAME or -XX:-NAME in a text of flags, which may be NULL; the last one counts. */
bool flags_is_on(const char *flags, const char *name);
/* The rest of the last flag that starts with PREFIX, allocated; NULL: there is none. */
char *flags_value(const char *flags, const char *prefix);

#endif
