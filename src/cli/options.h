/*
 * Option tables.  A command declares a struct for its option values, and one row for each option;
 * parsing, --help and shell completion all use the rows.
 */
#ifndef JTOOL_CLI_OPTIONS_H
#define JTOOL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/* Kinds of options.  Each comment has the C type of the stored value, a colon, and the value. */
enum opt_kind {
	OPT_FLAG,    /* bool: set to true */
	OPT_TEXT,    /* const char *: points to the value on the command line */
	OPT_NUMBER,  /* unsigned: a decimal number, 0 or more */
	/* unsigned: a number of rows; 0 if the option is not given, UINT_MAX for "-n 0" (all) */
	OPT_LIMIT,
	OPT_BYTES,   /* uint64_t: stored in bytes; a unit is optional: 4096, 512k, 64m, 1g */
	OPT_MB,      /* uint64_t: stored in bytes; a number without a unit is in MiB */
	/* unsigned: stored in ms; typed in seconds, or with a unit: 10, 500ms, 2s, 1m, 1h */
	OPT_SECONDS,
	OPT_NANOS,   /* uint64_t: stored in ns; typed with a unit: 10ms, 500us, 1s */
	OPT_CHOICE,  /* int: the index of the value in `choices`, from 0 */
	OPT_LEVEL,   /* unsigned: 1 to 9, given as --NAME=LEVEL; --NAME alone is 1 */
	OPT_MODE,    /* int: 1 + the index in `choices`, given as --NAME=MODE; --NAME alone is 1 */
};

struct opt {
	char letter;      /* 0: the option has only a long name */
	const char *name; /* NULL: the option has only a letter */
	enum opt_kind kind;
	unsigned offset;  /* offset of the value in the struct of option values */
	const char *arg;  /* name of the value in --help; NULL for a flag */
	/* text in --help; in an OPT_GROUP row, the title of the rows after it */
	const char *help;
	/* for OPT_CHOICE and OPT_MODE: the values; NULL ends the list */
	const char *const *choices;
};

/*
 * The row for -n, --limit.  `rows` is the default number of rows in text output, as a string for
 * --help; limit_rows() applies the default.
 */
#define OPT_LIMIT_ROW(at, rows)                                                               \
	{ 'n', "limit", OPT_LIMIT, (at), "N", "show N rows (default " rows ", in JSON all; "  \
	  "0 shows all)", NULL }

#define OPT_GROUP(title) { 0, NULL, OPT_FLAG, 0, NULL, (title), NULL }
#define OPT_END { 0, NULL, OPT_FLAG, 0, NULL, NULL, NULL }

/* Returns true if the option takes no value, or takes a value only in the form --NAME=VALUE. */
bool opt_stands_alone(const struct opt *row);

/* A table of option rows, and the struct for their values. */
struct opt_set {
	const struct opt *rows; /* NULL: no rows */
	void *values;
	bool dash_words; /* "-Name" is an argument (a JVM flag), unless there is an option -N */
};

/*
 * Parses argv[0..argc), which does not include the program's name.  Options may stand before or
 * between the arguments.  If both sets have an option, the value is stored in the first set.  All
 * words after "--" are arguments.  If free_words is not -1, all words after the first `free_words`
 * arguments are arguments, even if they look like options: they may be for a diagnostic command or
 * an agent.
 *
 * Moves the arguments to the front of argv.  Returns the number of arguments, or -1 with err set.
 */
int opt_parse(const struct opt_set sets[static 2], char **argv, int argc, int free_words,
	      struct err *err);

/* Prints an aligned line of --help for each row, and the titles of groups of rows. */
void opt_help(const struct opt *rows, FILE *out);

bool opt_is_end(const struct opt *row);
bool opt_is_group(const struct opt *row);
bool opt_has_letter(const struct opt *rows, char letter);

#endif
