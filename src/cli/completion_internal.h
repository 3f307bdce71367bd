/* What the completion scripts of the shells have in common; private to completion*.c. */
#ifndef JTOOL_CLI_COMPLETION_INTERNAL_H
#define JTOOL_CLI_COMPLETION_INTERNAL_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/options.h"

/* The ways to complete the value of an option. */
enum value_kind { VALUE_NONE, VALUE_CHOICE, VALUE_FILE, VALUE_OTHER };

enum value_kind completion_value_kind(const struct opt *o);

typedef void completion_option(const struct cmd *cmd, const struct opt *o, FILE *out);

/*
 * Calls print() for each option.  A common option has no letter if the command has another option
 * with that letter.
 */
void completion_each_option(const struct cmd *cmd, completion_option *print, FILE *out);

/* Prints the values of an OPT_CHOICE, separated by spaces. */
void completion_print_choices(const struct opt *o, FILE *out);

/* Prints the completions of the argument after the first verb and TARGET, separated by spaces. */
void completion_verb_words(const struct cmd *cmd, FILE *out);

/*
 * Shell functions for bash and zsh that print a word a line.  The words come from a JVM: none has a
 * character that a shell could take for more than a part of a word.
 *
 * _jtool_targets: process ids and names of the JVMs, each with the other one after a space.
 *
 * _jtool_words COMMAND TARGET: the diagnostic commands, flags, properties or counters of that JVM,
 * which is asked as the command asks it; or its loaded classes, of which a JVM of JDK 9 or later
 * has a list itself: no agent is loaded.
 */
extern const char completion_lists[];

/* Print the script of one shell. */
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);

#endif
