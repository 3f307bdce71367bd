/*
 * Option tables.  A command declares a struct for its option values, and one row for each option;
 * parsing, --help and shell completion all use the rows.
 */
#ifndef JTOOL_CLI_OPTIONS_H
#define JTOOL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

enum opt_kind {
	OPT_FLAG,    /* bool: set to true */
	OPT_TEXT,    /* const char *: the argument itself */
	OPT_NUMBER,  /* unsigned: a decimal number, 0 or more */
	OPT_LIMIT,   /* unsigned: a number of rows; 0 if not given, UINT_MAX for all (-n 0) */
	OPT_BYTES,   /* uint64_t, in bytes; the unit is optional: 4096, 512k, 64m, 1g */
	OPT_MB,      /* the same, but a number without a unit is in MiB */
	OPT_SECONDS, /* unsigned, in ms: a number of seconds, or with a unit: 500ms, 2s, 1m, 1h */
	OPT_NANOS,   /* uint64_t, in ns; the unit is mandatory: 10ms, 500us, 800ns, 1s */
	OPT_CHOICE,  /* int: the index in `choices`, from 0 */
	OPT_LEVEL,   /* unsigned: 1 to 9, as --NAME=LEVEL; 1 without a value */
	OPT_MODE,    /* int: 1 + the index in `choices`, as --NAME=MODE; 1 without a value */
};

struct opt {
	char letter;      /* 0: only a long name */
	const char *name; /* NULL: only a letter */
	enum opt_kind kind;
	size_t offset;    /* of the value in the struct of values */
	const char *arg;  /* the name of the value in --help; NULL for a flag */
	const char *help; /* alone in the row: the title of the group of the rows that follow */
	const char *const *choices; /* OPT_CHOICE, OPT_MODE: NULL-terminated */
};

/* -n, --limit; `rows` is the default for text, which limit_rows() applies. */
#define OPT_LIMIT_ROW(at, rows)                                                               \
	{ 'n', "limit", OPT_LIMIT, (at), "N", "show N rows (default " rows ", in JSON all; "  \
	  "0 shows all)", NULL }

#define OPT_GROUP(title) { 0, NULL, OPT_FLAG, 0, NULL, (title), NULL }
#define OPT_END { 0, NULL, OPT_FLAG, 0, NULL, NULL, NULL }

/* Returns whether an option takes a value only as --NAME=VALUE, or none. */
bool opt_stands_alone(const struct opt *row);

/* A table of rows and the struct that they fill. */
struct opt_set {
	const struct opt *rows; /* NULL: no rows */
	void *values;
	bool dash_words; /* "-Name" is an argument (a JVM flag) unless a row has the letter 'N' */
};

/*
 * Parses argv[0..argc), which does not include the program's name.  Options may stand before or
 * between the arguments.  The first set takes precedence.  "--" ends the options, and so do
 * free_words arguments (-1: no limit): the rest belongs to a diagnostic command or an agent.
 *
 * Moves the arguments to the front of argv and returns their number, or -1 with err set.
 */
int opt_parse(const struct opt_set sets[static 2], char **argv, int argc, int free_words,
	      struct err *err);

/* Prints one aligned line of help for each row, and the titles of groups. */
void opt_help(const struct opt *rows, FILE *out);

bool opt_is_end(const struct opt *row);
bool opt_is_group(const struct opt *row);
bool opt_has_letter(const struct opt *rows, char letter);

#endif
