/*
 * Commands: each stands in a file of its own under src/cmd and has a row in commands.def.
 *
 * main parses the options, finds the JVM when the command needs one, and calls run().
 */
#ifndef JTOOL_CMD_H
#define JTOOL_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/steps.h"
#include "opt.h"
#include "target/discover.h"
#include "target/jvm.h"

enum cmd_need {
	NEED_NOTHING, /* run() gets no JVM */
	NEED_JVM,     /* the first word is a TARGET, and run() gets the one JVM it means */
};

/* What every command is handed. */
struct ctx {
	const struct cmd *cmd;
	void *opts;          /* the command's own struct, filled from its rows */
	bool json;           /* --json */
	unsigned timeout_ms; /* --timeout: for attaching, and for the answer to begin */
	const struct steps *steps; /* NULL without --verbose */
	const struct jvm *jvm;     /* with NEED_JVM */
	const char *file;    /* instead of jvm: TARGET was this file: a heap dump, a report */
	bool all;            /* it is one of all: TARGET was "all" */
	char **args;         /* the words behind TARGET */
	int n_args;
	FILE *out;           /* results; stdout */
};

struct cmd {
	const char *name;
	const char *aliases;  /* what other tools call it, separated by blanks; NULL: nothing */
	const char *verbs;    /* what the word behind TARGET can be, to complete it; or NULL */
	const char *synopsis; /* behind the name: "TARGET [COMMAND [ARG...]]" */
	const char *summary;  /* one line, lower case, no full stop */
	const char *details;  /* more lines for --help, or NULL; each ends with \n */
	enum cmd_need need;
	bool takes_all; /* TARGET may be "all": run() for each JVM, several at a time */
	bool takes_dump; /* TARGET may be a file: a path with a slash, or FILE.hprof[.gz] … */
	bool (*is_file)(const char *target); /* … or what this says is one; NULL: nothing else */
	int min_args, max_args; /* words behind TARGET; max_args -1: any number */
	int free_words; /* words, TARGET included, after which options are not ours; -1: never */
	bool dash_words; /* "-Name" is a word, not an option: see struct opt_set */
	const struct opt *opts;
	size_t opts_size;
	const void *defaults; /* what of opts_size is not 0 without an option; NULL: nothing */
	/* NULL, or what options exclude each other: before a JVM is looked for, and as run(). */
	int (*check)(const struct ctx *ctx, struct err *err);
	int (*run)(struct ctx *ctx, struct err *err); /* 0, or -1 with err set */
	/*
	 * NULL, or how "all" is done instead: by commands that take less than starting a process
	 * for each JVM takes, or that make one document of all of them.
	 */
	int (*run_all)(struct ctx *ctx, const struct jvm_list *jvms, struct err *err);
};

/* The table, in the order of the help; ends with NULL. */
extern const struct cmd *const cmd_table[];

/* The rows that every command has. */
struct common_opts {
	bool json;
	bool help;
	bool verbose;
	unsigned timeout_ms;
};
extern const struct opt cmd_common_opts[];

/*
 * The command of this name or alias, or the only one of which one begins so.  NULL with err set
 * when there is none (the nearest one is suggested) or more than one (they are listed).
 */
const struct cmd *cmd_find(const char *name, struct err *err);

/* Print an error on stderr: "jtool: COMMAND: what, why, and what to do".  cmd may be NULL. */
void cmd_tell(const struct cmd *cmd, const struct err *err);

/* Say on stderr what is no error, in the same way. */
void cmd_note(const struct cmd *cmd, const char *fmt, ...) _printf_(2, 3);

/* Usage of one command, and of the program. */
void cmd_help(const struct cmd *cmd, FILE *out);
void cmd_help_all(FILE *out);

#endif
