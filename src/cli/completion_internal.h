/* Declarations that the completion scripts of all shells use; private to completion*.c. */
#ifndef JTOOL_CLI_COMPLETION_INTERNAL_H
#define JTOOL_CLI_COMPLETION_INTERNAL_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/options.h"

/* How the value of an option is completed. */
enum value_kind { VALUE_NONE, VALUE_CHOICE, VALUE_FILE, VALUE_OTHER };

enum value_kind completion_value_kind(const struct opt *o);

typedef void completion_option(const struct cmd *cmd, const struct opt *o, FILE *out);

/*
 * Calls print() for each option of a command.  A common option is passed without its letter if the
 * command has another option with that letter.
 */
void completion_each_option(const struct cmd *cmd, completion_option *print, FILE *out);

/* Prints the values of an OPT_CHOICE, separated by spaces. */
void completion_print_choices(const struct opt *o, FILE *out);

/*
 * Prints the completions of the argument that follows cmd->first_verb and TARGET, separated by
 * spaces.
 */
void completion_verb_words(const struct cmd *cmd, FILE *out);

/*
 * Functions for bash and zsh that print one word a line.  A word that comes from a JVM is printed
 * only if no character of it has a meaning in a shell.
 *
 * _jtool_targets: for a JVM with a name, the two lines "PID NAME" and "NAME PID"; for a JVM without
 * a name, the line "PID -".
 *
 * _jtool_words COMMAND TARGET: the diagnostic commands, flags, properties or counters of a JVM, as
 * COMMAND itself reads them; or the loaded classes.  The classes are listed only for JDK 9 or
 * later, because such a JVM lists them itself, without jtool's agent.
 */
extern const char completion_lists[];

/* Print the completion script of one shell. */
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);

#endif
