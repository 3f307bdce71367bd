/*
 * A child process that outlives us: it holds something outside of us (a file that a target must
 * see) and takes it away when the time has come, however jtool itself ends.
 */
#ifndef JTOOL_BASE_ASIDE_H
#define JTOOL_BASE_ASIDE_H

#include <sys/types.h>

#include "base/util.h"

/*
 * fork(2) into a session of its own that no terminal, SIGINT or SIGTERM reaches, with stdio on
 * /dev/null (a pipe that reads our output must see its end when we end), the root as its
 * directory, and no descriptor open but those of `keep`; -1 in it is skipped.  Returns 0 in the
 * child, which must leave by _exit(2); its pid, or a negative errno.
 */
pid_t aside_fork(const int *keep, size_t n_keep) _must_check_;

#endif
