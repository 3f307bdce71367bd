/* Finds the command of jtool that does the same as a command of another tool. */
#ifndef JTOOL_CLI_OTHER_NAMES_H
#define JTOOL_CLI_OTHER_NAMES_H

/*
 * Returns the command of jtool that does the same as the command `name` of another tool, for
 * example "class -b" for "javap"; or NULL.
 */
const char *other_names_find(const char *name);

#endif
