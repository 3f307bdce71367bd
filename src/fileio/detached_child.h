/*
 * Child processes that go on running when jtool is killed, so that they can remove the files which
 * jtool has created for a target.
 */
#ifndef JTOOL_FILEIO_DETACHED_CHILD_H
#define JTOOL_FILEIO_DETACHED_CHILD_H

#include <sys/types.h>

#include "base/util.h"

/*
 * Forks a child in a new session.  The child ignores SIGHUP, SIGINT, SIGQUIT, SIGPIPE and SIGTERM.
 * Its working directory is /, and only the descriptors in `keep` stay open; entries of -1 are
 * skipped.  Its stdio is /dev/null: if the child kept jtool's stdout open, a reader of jtool's
 * output would see no end of file when jtool exits.  Returns 0 in the child, which must end with
 * _exit(2).  Returns the child's pid, or a negative errno, in the parent.
 */
pid_t detached_child_fork(const int *keep, size_t n_keep) _must_check_;

#endif
