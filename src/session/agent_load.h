/* Asks a JVM to load an agent library that connects to a socket of ours. */
#ifndef JTOOL_SESSION_AGENT_LOAD_H
#define JTOOL_SESSION_AGENT_LOAD_H

#include "attach/attach.h"
#include "discover/jvm.h"
#include "session/loaded_agents.h"

struct agent_load {
	const char *file;        /* the library, as the target sees it */
	const char *socket_path; /* as the target sees it */
	const char *token;
	const char *remedy;      /* what to do if the JVM does not permit loading */
};

/*
 * Loads the library with the attach operation `load`.  Returns 0 when the JVM has loaded it; else
 * -1 with `err` set as attach_execute() and load_reply_check() do.
 */
int agent_load(const struct jvm *jvm, const struct attach_opts *opts,
	       const struct agent_load *load, struct err *err) _must_check_;

/*
 * Loads the image with the patches, which the target has mapped already.  If no image is mapped, or
 * the linker does not find it by its path, loads the file `staged`.  Ignores load.file.
 */
int agent_load_own(const struct jvm *jvm, const struct attach_opts *opts,
		   const struct loaded_agents *images, const char *staged, struct agent_load load,
		   struct err *err) _must_check_;

#endif
