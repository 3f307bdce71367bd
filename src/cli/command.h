/*
 * The command table.  Each command has a file in src/cmd and a row in commands.def.  main parses
 * the options, finds the JVM if the command needs one, and calls run().
 */
#ifndef JTOOL_CLI_COMMAND_H
#define JTOOL_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/verbose.h"
#include "cli/options.h"
#include "discover/discover.h"
#include "discover/jvm.h"

enum cmd_need {
	NEED_NOTHING, /* run() gets no JVM */
	NEED_JVM,     /* the first argument is a TARGET, and run() gets the JVM that it names */
};

/* The input of a command's functions. */
struct ctx {
	const struct cmd *cmd;
	void *opts;          /* option values: the struct that the command's rows describe */
	bool json;           /* --json */
	unsigned timeout_ms; /* --timeout: to attach, and for the answer to begin */
	const struct verbose *steps; /* NULL without --verbose */
	const struct jvm *jvm;     /* with NEED_JVM */
	const char *file;    /* set, instead of jvm, if TARGET is a file: a heap dump, a report */
	bool implied;        /* there was no TARGET; jvm is the only visible JVM */
	bool all;            /* TARGET was "all"; jvm is one of the visible JVMs */
	char **args;         /* the arguments after TARGET */
	int n_args;
	FILE *out;           /* results; stdout */
	bool to_terminal;    /* `out`, or what will be copied to stdout, is shown on a terminal */
};

/* A line of --help: the words after "jtool", and what they do. */
struct example {
	const char *words, *text;
};

struct cmd {
	const char *name;
	const char *aliases;  /* names in other tools, separated by spaces; or NULL */
	const char *verbs;    /* completions of the argument after TARGET; or NULL */
	const char *first_verb; /* a verb that stands before TARGET, and gets in args[0]; or NULL */
	const char *(*first_verb_word)(size_t i); /* completions after it and TARGET; NULL: end */
	const char *synopsis; /* follows the name: "TARGET [COMMAND [ARG...]]" */
	const char *summary;  /* one line, lower case, no full stop */
	const struct example *examples; /* two or three; words NULL ends the list */
	const char *details;  /* more lines for --help, or NULL; each ends with \n */
	enum cmd_need need;
	bool parses; /* binary data of a target or of a file: runs in a sandbox */
	bool only_looks; /* TARGET may be omitted where exactly one JVM is visible */
	bool all_by_default; /* TARGET may be omitted, and means "all" then */
	bool takes_all; /* TARGET may be "all": run() is called for each JVM, several at a time */
	bool takes_file; /* TARGET may be a file: a path with a slash, FILE.hprof[.gz], … */
	bool (*is_file)(const char *target); /* … or a path for which this returns true; or NULL */
	int min_args, max_args; /* arguments after TARGET; max_args -1: no limit */
	/* NULL, or how many arguments these options need: check() reports the missing ones. */
	int (*least_args)(const void *opts);
	int free_words; /* options end after so many arguments, TARGET included; -1: never */
	bool dash_words; /* see struct opt_set */
	const struct opt *opts;
	size_t opts_size;
	const void *defaults; /* initial option values; NULL: all zero */
	/* NULL, or rejects combinations of options before the JVM search.  Returns like run(). */
	int (*check)(const struct ctx *ctx, struct err *err);
	int (*run)(struct ctx *ctx, struct err *err); /* 0, or -1 with err set */
	/*
	 * Handles TARGET "all"; NULL: a child process per JVM calls run().  For commands that take
	 * less time than fork(2), or that print one document about all JVMs.
	 */
	int (*run_all)(struct ctx *ctx, const struct jvm_list *jvms, struct err *err);
};

/* All commands in the order of --help; NULL ends the table. */
extern const struct cmd *const cmd_table[];

/* Options that every command has. */
struct common_opts {
	bool json;
	bool help;
	bool verbose;
	unsigned timeout_ms;
};
extern const struct opt cmd_common_opts[];

/*
 * Finds a command by its name or an alias.  Returns NULL with err set, which suggests what does the
 * same as that command of another tool, or the nearest name.
 */
const struct cmd *cmd_find(const char *name, struct err *err);
/* Returns whether a command has this name or alias. */
bool cmd_is_name(const char *name);

/* Prints "jtool: COMMAND: TEXT" on stderr.  cmd may be NULL. */
void cmd_print_error(const struct cmd *cmd, const struct err *err);
/* Prints {"error":{"code","message"}}, with "pid" unless it is 0: with --json, the result. */
void cmd_print_error_json(int pid, const struct err *err, FILE *out);
/* Prints "jtool: COMMAND: NOTICE" on stderr.  cmd may be NULL. */
void cmd_print_notice(const struct cmd *cmd, const char *fmt, ...) _printf_(2, 3);

/* Prints the usage of one command. */
void cmd_help(const struct cmd *cmd, FILE *out);
/* Prints the usage of the program. */
void cmd_help_all(FILE *out);

#endif
