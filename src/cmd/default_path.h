/* Default names for output files. */
#ifndef JTOOL_CMD_DEFAULT_PATH_H
#define JTOOL_CMD_DEFAULT_PATH_H

#include "discover/jvm.h"

/*
 * Returns the name KIND-MAIN-PID-TIME followed by `suffix`, such as ".hprof", for example
 * heapdump-Shop-4711-20261122T030000.hprof.  MAIN is from the JVM's main class or jar.  The caller
 * frees the name.
 */
char *default_path(const struct jvm *jvm, const char *kind, const char *suffix);

#endif
