/*
 * Agents of jtool's that a target has mapped already.  The library stays mapped when a session
 * is over, and so does what it holds: patches.  To come to them the very same image must be
 * loaded again, which the dynamic linker finds by its path, also when the file is long gone.
 */
#ifndef JTOOL_SESSION_IMAGE_H
#define JTOOL_SESSION_IMAGE_H

#include <stdbool.h>

#include "base/err.h"
#include "target/ns.h"

struct images {
	char **paths; /* as the target has them; in which order they were loaded is not told */
	size_t n, cap;
	bool musl; /* its linker knows libraries by their inode: what is unlinked is never found */
};

void images_release(struct images *images);

/* Those mapped now: files named jtool-agent-HASH.so.  -1 with err set when it cannot be told. */
int images_find(const struct ns *ns, struct images *images, struct err *err) _must_check_;

/* The one whose file name is this, or NULL. */
const char *images_named(const struct images *images, const char *file_name);

#endif
