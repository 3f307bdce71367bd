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

/* The arguments of a command's functions. */
struct ctx {
	const struct cmd *cmd;
	/* option values: points to the struct that the command's option rows describe */
	void *opts;
	bool json;           /* --json */
	unsigned timeout_ms; /* --timeout in ms: for attaching, and until an answer begins */
	const struct verbose *steps; /* receives the steps for --verbose; NULL without it */
	const struct jvm *jvm;     /* the target; set with NEED_JVM */
	const char *file;    /* set instead of jvm if TARGET is a file: a heap dump, a report */
	bool implied;        /* TARGET was omitted; jvm is the only visible JVM */
	bool all;            /* TARGET is "all"; jvm is one of the visible JVMs */
	char **args;         /* the arguments after TARGET */
	int n_args;
	FILE *out;           /* stream for results: stdout */
	/* the results will be shown on a terminal, directly or copied from `out` */
	bool to_terminal;
};

/* An example in --help: the words after "jtool", and an explanation. */
struct example {
	const char *words, *text;
};

struct cmd {
	const char *name;
	const char *aliases;  /* names in other tools, separated by spaces; or NULL */
	const char *verbs;    /* completions of the argument after TARGET; or NULL */
	const char *first_verb; /* a verb that may precede TARGET; it becomes args[0]; or NULL */
	/*
	 * returns completion i for the argument after first_verb and TARGET; NULL: there are no
	 * more
	 */
	const char *(*first_verb_word)(size_t i);
	const char *synopsis; /* follows the command's name: "TARGET [COMMAND [ARG...]]" */
	const char *summary;  /* one line, lower case, no full stop */
	const struct example *examples; /* two or three, and at the end one with `words` NULL */
	const char *details;  /* further lines for --help, or NULL; each ends with \n */
	enum cmd_need need;
	bool parses; /* parses binary data of a target or a file, so it runs in a sandbox */
	bool only_looks; /* changes nothing: TARGET may be omitted if exactly one JVM is visible */
	bool all_by_default; /* TARGET may be omitted, which means "all" */
	bool takes_all; /* TARGET may be "all": run() is called for each JVM, several at a time */
	bool takes_file; /* TARGET may be a file: a path with a slash, FILE.hprof[.gz], … */
	/*
	 * returns true if TARGET names a file in a further form, in addition to those of
	 * takes_file; NULL: there is no further form
	 */
	bool (*is_file)(const char *target);
	int min_args, max_args; /* limits for the arguments after TARGET; max_args -1: no limit */
	/*
	 * Returns how many arguments a command with these options needs; check() reports missing
	 * ones.  May be NULL.
	 */
	int (*least_args)(const void *opts);
	/*
	 * number of arguments, including TARGET, after which even a word with a dash is an argument
	 * and not an option; -1: no such number
	 */
	int free_words;
	bool dash_words; /* see struct opt_set */
	const struct opt *opts;
	size_t opts_size;
	const void *defaults; /* initial option values; NULL: all zero */
	/*
	 * Rejects invalid combinations of options before jtool looks for the JVM.  Returns 0, or -1
	 * with err set.  May be NULL.
	 */
	int (*check)(const struct ctx *ctx, struct err *err);
	int (*run)(struct ctx *ctx, struct err *err); /* 0, or -1 with err set */
	/*
	 * Runs the command for TARGET "all".  NULL: run() is called in a child process for each
	 * JVM.  Set it for a command that takes less time than fork(2), or prints one document
	 * about all JVMs.
	 */
	int (*run_all)(struct ctx *ctx, const struct jvm_list *jvms, struct err *err);
};

/* All commands in the order in which --help shows them; the last element is NULL. */
extern const struct cmd *const cmd_table[];

/* Values of the options that every command has. */
struct common_opts {
	bool json;
	bool help;
	bool verbose;
	unsigned timeout_ms;
};
extern const struct opt cmd_common_opts[];

/*
 * Finds a command by its name or alias.  If there is none, returns NULL with err set.  If `name` is
 * a command of another tool, the text of err suggests jtool's command for the same purpose;
 * otherwise it suggests the command whose name is nearest to `name`.
 */
const struct cmd *cmd_find(const char *name, struct err *err);
/* Returns true if a command has this name or alias. */
bool cmd_is_name(const char *name);

/* Prints "jtool: COMMAND: TEXT" on stderr.  cmd may be NULL. */
void cmd_print_error(const struct cmd *cmd, const struct err *err);
/*
 * Prints the result of a failed command with --json: {"error":{"code","message"}}, and in addition
 * "pid" if `pid` is not 0.
 */
void cmd_print_error_json(int pid, const struct err *err, FILE *out);
/* Prints "jtool: COMMAND: NOTICE" on stderr.  cmd may be NULL. */
void cmd_print_notice(const struct cmd *cmd, const char *fmt, ...) _printf_(2, 3);

/* Prints --help of a command. */
void cmd_help(const struct cmd *cmd, FILE *out);
/* Prints --help of jtool. */
void cmd_help_all(FILE *out);

#endif
