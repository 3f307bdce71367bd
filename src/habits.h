/*
 * Command lines as users of other tools write them.
 */
#ifndef JTOOL_HABITS_H
#define JTOOL_HABITS_H

/*
 * The words of a command line in jtool's order, COMMAND first, from those behind the program's
 * name; the array is the caller's to free, the words stay argv's.
 *
 *   stat -gcutil PID ...         stat -t gcutil PID ...; also jstat, and its other groups
 *   PID                          info PID
 *   PID COMMAND ARG...           COMMAND PID ARG..., as jattach has it
 *   PID OPERATION ARG...         op PID OPERATION ARG...: what jattach knows and is no command
 *   PID load LIB true|false OPT  load PID LIB OPT; is LIB absolute? jtool sees that itself
 *   PID load instrument false JAR=OPT   load PID JAR OPT
 *
 * Anything else stays as it is.
 */
char **habits_words(int argc, char **argv, int *n_words);

#endif
