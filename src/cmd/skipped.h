/*
 * Lists of classes and methods that a command skips, or for which the command's output is inexact.
 * The classes and methods of a list are grouped by reason, because a glob may match thousands of
 * classes.  A command prints the lists after it has processed all other classes and methods.
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
	const char *what; /* words for the notice, for example "not dumped"; NULL: "skipped" */
	struct skipped_reason *list;
	size_t n, cap;
	size_t n_items; /* number of skipped classes and methods, over all reasons */
};

/*
 * Adds a class or method `name` that is skipped for the reason `why`; copies both texts.  `loader`
 * (NULL: none) is only for JSON, and must outlive `s`.
 */
void skipped_add(struct skipped *s, const char *why, const char *name, const char *loader);
/*
 * Prints "skipped: native (12), abstract (2); -v lists them" on stderr.  With --verbose, or if
 * there is only one item, prints a line for each item: "skipped: native: A".
 */
void skipped_print(const struct ctx *ctx, const struct skipped *s);
/* Returns the items as JSON, [{"class","loader","reason"}], which the caller frees. */
struct json *skipped_json(const struct skipped *s);
/*
 * Sets an error with the text `what` (EXIT_ANSWER).  If all items have the same reason, the error
 * contains that reason as well; otherwise prints the reasons as notices.  Returns -1.
 */
int skipped_refuse(const struct ctx *ctx, const struct skipped *s, const char *what,
		   struct err *err);
void skipped_release(struct skipped *s);

#endif
