/*
 * jtool agents that a target has mapped already.  The library and its patches stay mapped after a
 * session.  To reach the patches, exactly the same image must be loaded again; the dynamic linker
 * finds it by its path, even if the file is deleted.
 */
#ifndef JTOOL_SESSION_LOADED_AGENTS_H
#define JTOOL_SESSION_LOADED_AGENTS_H

#include <stdbool.h>

#include "base/err.h"
#include "attach/target_ns.h"

struct loaded_agents {
	char **paths; /* as the target sees them, in no particular order */
	size_t n, cap;
	bool musl; /* the target uses musl, which never finds a deleted library by its path */
};

void loaded_agents_release(struct loaded_agents *images);

/* Finds the mapped files named jtool-agent-HASH.so.  Returns -1 with `err` set on failure. */
int loaded_agents_find(const struct target_ns *ns, struct loaded_agents *images,
		       struct err *err) _must_check_;

/* Returns the path that ends in this file name, or NULL. */
const char *loaded_agents_named(const struct loaded_agents *images, const char *file_name);

#endif
