/* Maps the names of other tools' commands to those of jtool. */
#ifndef JTOOL_CLI_OTHER_NAMES_H
#define JTOOL_CLI_OTHER_NAMES_H

/*
 * Returns the command of jtool that does the same as `name` in another tool, for example "class
 * -b"; or NULL.
 */
const char *other_names_find(const char *name);

#endif
