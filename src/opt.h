/*
 * Options as rows: one row is parsing, help and completion.
 *
 * A command declares a struct for its option values and rows that say where each value goes.
 * Nothing is global, and no option is spelled twice.
 */
#ifndef JTOOL_OPT_H
#define JTOOL_OPT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

enum opt_kind {
	OPT_FLAG,    /* bool: set to true */
	OPT_TEXT,    /* const char *: the argument itself */
	OPT_NUMBER,  /* unsigned: 0 or more, decimal */
	OPT_BYTES,   /* uint64_t: 0 or more, with a unit: 512k, 64m, 1g */
	OPT_SECONDS, /* unsigned, in ms: seconds, or with a unit: 500ms, 2s, 1m, 1h */
	OPT_NANOS,   /* uint64_t, in ns: a time with a unit: 10ms, 500us, 800ns, 1s */
	OPT_CHOICE,  /* int: the index into `choices` */
	OPT_LEVEL,   /* unsigned: 1 to 9; 1 without a value, which only --NAME=VALUE gives */
};

struct opt {
	char letter;      /* 0: only a long name */
	const char *name; /* NULL: only a letter; with neither, the row ends the table */
	enum opt_kind kind;
	size_t offset;    /* where in the values' struct */
	const char *arg;  /* what the argument is called in the help; NULL for a flag */
	const char *help;
	const char *const *choices; /* OPT_CHOICE: NULL-terminated */
};

#define OPT_END { 0, NULL, OPT_FLAG, 0, NULL, NULL, NULL }

/* A table of rows and the struct that they fill. */
struct opt_set {
	const struct opt *rows; /* may be NULL: no rows */
	void *values;
	bool dash_words; /* "-Name", with a capital that no row has, is a word: a flag of a JVM */
};

/*
 * Parse argv[0..argc), which has no program name in front.  The options of both sets may stand
 * before or between the other words; the first set wins where both have a letter.
 *
 * free_words: after this many words that are no options everything is left alone, as behind
 * "--": the rest belongs to somebody else (a diagnostic command, an agent).  -1: never.
 *
 * The words are moved to the front of argv in their order; returns how many, or -1.
 */
int opt_parse(const struct opt_set sets[static 2], char **argv, int argc, int free_words,
	      struct err *err);

/* One aligned line a row. */
void opt_help(const struct opt *rows, FILE *out);

/* True when the table has this letter. */
bool opt_has_letter(const struct opt *rows, char letter);

#endif
