/* Makes a JVM load an agent library, which connects to jtool's socket. */
#ifndef JTOOL_SESSION_AGENT_LOAD_H
#define JTOOL_SESSION_AGENT_LOAD_H

#include "attach/attach.h"
#include "discover/jvm.h"
#include "session/loaded_agents.h"

struct agent_load {
	const char *file;        /* path of the library in the target's root */
	const char *socket_path; /* path of the socket in the target's root */
	const char *token;
	/* what the user can do if the JVM does not permit loading; a part of the error message */
	const char *remedy;
};

/*
 * Loads the library with the attach operation `load`.  Returns 0 when the JVM has loaded it, or -1
 * with `err` set by attach_execute() or load_reply_check().
 */
int agent_load(const struct jvm *jvm, const struct attach_opts *opts,
	       const struct agent_load *load, struct err *err) _must_check_;

/*
 * Loads this build's agent.  If the target has mapped an image of this agent already, loads that
 * image by its path, because the patches of earlier sessions are in its memory.  If there is no
 * such image, or loading it fails, loads the file `staged`.  Ignores load.file.
 */
int agent_load_own(const struct jvm *jvm, const struct attach_opts *opts,
		   const struct loaded_agents *images, const char *staged, struct agent_load load,
		   struct err *err) _must_check_;

#endif
