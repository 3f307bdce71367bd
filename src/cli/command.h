/*
 * The command table.  Each command has a file in src/cmd and a row in commands.def.  main() parses
 * the options, finds the JVM if the command needs one, and calls the command's run().
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
	NEED_JVM,     /* the first argument is TARGET; run() gets the JVM that TARGET names */
};

/* The state of a command, which is passed to its check() and run(). */
struct ctx {
	const struct cmd *cmd;
	/* the command's own struct with the option values, which cmd->opts describes */
	void *opts;
	bool json;           /* --json */
	/* --timeout in ms: limit for attaching, and for the wait until an answer begins */
	unsigned timeout_ms;
	const struct verbose *steps; /* prints the steps for --verbose; NULL without --verbose */
	const struct jvm *jvm;     /* the target, if the command has NEED_JVM */
	const char *file;    /* set instead of `jvm` if TARGET is a file, such as a heap dump */
	bool implied;        /* TARGET was omitted; jvm is the only visible JVM */
	bool all;            /* TARGET is "all"; in run(), `jvm` is one of the JVMs */
	char **args;         /* the arguments after TARGET */
	int n_args;
	FILE *out; /* stream for results: stdout, or a file that jtool copies to stdout later */
	bool to_terminal;    /* stdout is a terminal */
};

/* An example in --help: `words` is the command line after "jtool", `text` explains it. */
struct example {
	const char *words, *text;
};

struct cmd {
	const char *name;
	const char *aliases;  /* its names in other tools, separated by spaces; or NULL */
	const char *verbs;    /* shell completions of the argument after TARGET; or NULL */
	/* a verb that may stand before TARGET on the command line, and becomes args[0]; or NULL */
	const char *first_verb;
	/*
	 * Returns the i-th shell completion of the argument after first_verb and TARGET; NULL if
	 * there are not so many.
	 */
	const char *(*first_verb_word)(size_t i);
	const char *synopsis; /* the text after the command's name: "TARGET [COMMAND [ARG...]]" */
	const char *summary;  /* one line, lower case, no full stop */
	const struct example *examples; /* two or three, then one whose `words` is NULL */
	const char *details;  /* more lines for --help, each with \n at the end; or NULL */
	enum cmd_need need;
	bool parses; /* parses binary data of a target or file, so the command runs in a sandbox */
	bool only_looks; /* changes no JVM, so TARGET may be omitted if only one is visible */
	bool all_by_default; /* TARGET may be omitted; it is then "all" */
	bool takes_all; /* TARGET may be "all": run() is called for each JVM, several at a time */
	bool takes_file; /* TARGET may be a file: a path with a slash, FILE.hprof[.gz], … */
	/*
	 * Returns true if `target` names a file in a form that only this command accepts, such as
	 * CAPTURE.tar.gz.  NULL: the command accepts only the forms that takes_file describes.
	 */
	bool (*is_file)(const char *target);
	int min_args, max_args; /* number of arguments after TARGET; max_args -1: no maximum */
	/*
	 * Returns how many arguments are required with these option values; check() reports the
	 * missing ones.  May be NULL.
	 */
	int (*least_args)(const void *opts);
	/*
	 * number of arguments, including TARGET, after which each word is an argument, even if it
	 * begins with a dash; -1: options may follow any number of arguments
	 */
	int free_words;
	bool dash_words; /* as in struct opt_set */
	const struct opt *opts;
	size_t opts_size;
	const void *defaults; /* initial values of the options; NULL: all are 0 */
	/*
	 * Checks the combination of options, before jtool looks for the JVM.  Returns 0; or -1 with
	 * err set if the combination is invalid.  May be NULL.
	 */
	int (*check)(const struct ctx *ctx, struct err *err);
	int (*run)(struct ctx *ctx, struct err *err); /* returns 0, or -1 with err set */
	/*
	 * Runs the command for TARGET "all".  NULL: jtool calls run() for each JVM, each time in a
	 * child process.  Not NULL in commands that take less time than fork(2), and in commands
	 * that print one document about all JVMs.
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
 * Finds a command by its name or alias.  If there is none, returns NULL with err set.  The error
 * text suggests a command: if `name` is a command of another tool, jtool's command for the same
 * purpose; otherwise the command whose name is nearest to `name`.
 */
const struct cmd *cmd_find(const char *name, struct err *err);
/* Returns true if a command has this name or alias. */
bool cmd_is_name(const char *name);

/* Prints "jtool: COMMAND: TEXT" on stderr; without COMMAND if `cmd` is NULL. */
void cmd_print_error(const struct cmd *cmd, const struct err *err);
/*
 * Prints the error of a command with --json: {"error":{"code","message"}}.  If `pid` is not 0, the
 * outer object also has "pid".
 */
void cmd_print_error_json(int pid, const struct err *err, FILE *out);
/* Prints "jtool: COMMAND: NOTICE" on stderr; without COMMAND if `cmd` is NULL. */
void cmd_print_notice(const struct cmd *cmd, const char *fmt, ...) _printf_(2, 3);

/* Prints the text of `jtool COMMAND --help`. */
void cmd_help(const struct cmd *cmd, FILE *out);
/* Prints the text of `jtool --help`. */
void cmd_help_all(FILE *out);

#endif
