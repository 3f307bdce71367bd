/* Translates the command lines of the JDK's jmap, jinfo, jstat and jcmd. */
#ifndef JTOOL_CLI_COMPAT_JDK_H
#define JTOOL_CLI_COMPAT_JDK_H

/*
 * Translates a command line of the JDK's tools: "jmap -histo:live 42" becomes "heaphisto --live
 * 42".  Stores at most 2 * argc + 2 words in `words`.  Each word is a constant or a part of a
 * string in argv; the function changes the strings in argv.  Returns the number of words; or 0 if
 * argv[0] is not one of these tools, or if jtool has no equivalent of the options.
 */
int compat_jdk(int argc, char **argv, char **words);

#endif
