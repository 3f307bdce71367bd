/* Declarations that the source files completion*.c share. */
#ifndef JTOOL_CLI_COMPLETION_INTERNAL_H
#define JTOOL_CLI_COMPLETION_INTERNAL_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/options.h"

/* The kind of values that the completion script offers for an option. */
enum value_kind { VALUE_NONE, VALUE_CHOICE, VALUE_FILE, VALUE_OTHER };

enum value_kind completion_value_kind(const struct opt *o);

typedef void completion_option(const struct cmd *cmd, const struct opt *o, FILE *out);

/*
 * Calls print() for each option of a command, including the common options that all commands have.
 * A common option is passed without its letter if an option of the command itself has that letter.
 */
void completion_each_option(const struct cmd *cmd, completion_option *print, FILE *out);

/* Prints the values of an OPT_CHOICE, separated by spaces. */
void completion_print_choices(const struct opt *o, FILE *out);

/*
 * Prints the words that cmd->first_verb_word returns, separated by spaces.  They complete the
 * argument that follows cmd->first_verb and TARGET.
 */
void completion_verb_words(const struct cmd *cmd, FILE *out);

/*
 * Shell functions, for bash and zsh, that print lines with words to complete.  A word that comes
 * from a JVM is printed only if none of its characters has a meaning in a shell.
 *
 * _jtool_targets prints, for each JVM with a name, the two lines "PID NAME" and "NAME PID"; and for
 * each JVM without a name, the line "PID -".
 *
 * _jtool_words COMMAND TARGET prints one word a line: the diagnostic commands, flags, properties or
 * counters of the JVM, which `jtool COMMAND TARGET` lists; or the JVM's loaded classes.  Classes
 * are listed only for JDK 9 or later, because such a JVM lists its classes without jtool's agent.
 */
extern const char completion_lists[];

/* Each function prints the completion script for the shell in its name. */
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);

#endif
