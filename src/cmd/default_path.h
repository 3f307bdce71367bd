/* Default names for output files. */
#ifndef JTOOL_CMD_DEFAULT_PATH_H
#define JTOOL_CMD_DEFAULT_PATH_H

#include "discover/jvm.h"

/*
 * Returns KIND-NAME-PID-TIMESUFFIX, such as heapdump-Shop-4711-20261122T030000.hprof; the caller
 * frees it.
 */
char *default_path(const struct jvm *jvm, const char *kind, const char *suffix);

#endif
