/*
 * Classes and methods that a command skips, or shows with a reservation, grouped by reason because
 * a glob may match thousands.  Commands report them after they have processed the others.
 */
#ifndef JTOOL_CMD_SKIPPED_H
#define JTOOL_CMD_SKIPPED_H

#include "cli/command.h"
#include "render/json.h"

struct skipped_item {
	char *name;
	const char *loader;
};

struct skipped_reason {
	char *why;
	struct skipped_item *items;
	size_t n, cap;
};

struct skipped {
	const char *what; /* for example "not dumped"; NULL: "skipped" */
	struct skipped_reason *list;
	size_t n, cap;
	size_t n_items; /* total of all reasons */
};

/* Copies why and name.  `loader` (NULL: none) is only used in JSON and must outlive `s`. */
void skipped_add(struct skipped *s, const char *why, const char *name, const char *loader);
/*
 * Prints "skipped: native (12), abstract (2); -v lists them" to stderr; with --verbose, or if there
 * is only one, a line for each: "skipped: native: A".
 */
void skipped_print(const struct ctx *ctx, const struct skipped *s);
/* Returns [{"class","loader","reason"}], which the caller frees. */
struct json *skipped_json(const struct skipped *s);
/* Returns -1 with the error `what` (EXIT_ANSWER); a single reason is added, several are printed. */
int skipped_refuse(const struct ctx *ctx, const struct skipped *s, const char *what,
		   struct err *err);
void skipped_release(struct skipped *s);

#endif
