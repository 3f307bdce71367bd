/*
 * Translates command lines in the style of jattach and jstat to jtool's style.  Also expands
 * shorthands: a shorthand is a command that stands for another command with an option.
 */
#ifndef JTOOL_CLI_COMPAT_ARGS_H
#define JTOOL_CLI_COMPAT_ARGS_H

/*
 * Translates the arguments (argv without the program's name) into jtool's order, COMMAND first:
 *
 *   FROM                         TO
 *   stat -gcutil PID ...         stat -t gcutil PID ...; the same for jstat, and for other tables
 *   PID                          info PID
 *   PID COMMAND ARG...           COMMAND PID ARG...
 *   PID OPERATION ARG...         op PID OPERATION ARG...; jattach has OPERATION as a command, jtool
 *                                does not
 *   PID load LIB true|false OPT  load PID LIB OPT; jtool detects whether LIB is absolute
 *   PID load instrument false JAR=OPT   load PID JAR OPT
 *   dominators ARG...            retained --tree ARG...
 *   leaks ARG...                 retained --suspects ARG...
 *
 * Other arguments stay as they are.  Returns an array of *n_words arguments.  The caller frees the
 * array, but not its strings: they belong to argv.
 */
char **compat_args(int argc, char **argv, int *n_words);

/*
 * If `name` is a shorthand, returns the name of the command that it stands for; else returns
 * `name`.
 */
const char *compat_command(const char *name);

#endif
