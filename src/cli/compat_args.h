/*
 * Translates command lines in the style of jattach and jstat, and commands that are shorthands for
 * another command with an option.
 */
#ifndef JTOOL_CLI_COMPAT_ARGS_H
#define JTOOL_CLI_COMPAT_ARGS_H

/*
 * Translates the arguments (argv without the program's name) into jtool's order, COMMAND first:
 *
 *   stat -gcutil PID ...         stat -t gcutil PID ...; likewise jstat and the other tables
 *   PID                          info PID
 *   PID COMMAND ARG...           COMMAND PID ARG...
 *   PID OPERATION ARG...         op PID OPERATION ARG...; OPERATION is a command of jattach only
 *   PID load LIB true|false OPT  load PID LIB OPT; jtool detects whether LIB is absolute
 *   PID load instrument false JAR=OPT   load PID JAR OPT
 *   dominators ARG...            retained --tree ARG...
 *   leaks ARG...                 retained --suspects ARG...
 *
 * Other arguments stay as they are.  The caller frees the array, but not its strings: they belong
 * to argv.
 */
char **compat_args(int argc, char **argv, int *n_words);

/*
 * If `name` is a shorthand for another command with an option, returns that command; else returns
 * `name`.
 */
const char *compat_command(const char *name);

#endif
