/* Default names for output files. */
#ifndef JTOOL_CMD_DEFAULT_PATH_H
#define JTOOL_CMD_DEFAULT_PATH_H

#include "discover/jvm.h"

/*
 * Returns the name KIND-NAME-PID-TIMESUFFIX, for example heapdump-Shop-4711-20261122T030000.hprof.
 * The caller frees it.
 */
char *default_path(const struct jvm *jvm, const char *kind, const char *suffix);

#endif
