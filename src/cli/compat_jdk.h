/* Translates the command lines of the JDK's jmap, jinfo, jstat and jcmd. */
#ifndef JTOOL_CLI_COMPAT_JDK_H
#define JTOOL_CLI_COMPAT_JDK_H

/*
 * Stores the words of jtool for a command line of the JDK's tools: "jmap -histo:live 42" is
 * "heaphisto --live 42".  Returns their number, or 0 if argv[0] is none of these tools or jtool has
 * nothing for its options.  There are at most 2 * argc + 2 words, which point into argv (it is
 * changed) or to constants.
 */
int compat_jdk(int argc, char **argv, char **words);

#endif
