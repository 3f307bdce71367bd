/* Makes a JVM load an agent library.  The loaded agent connects to jtool's socket. */
#ifndef JTOOL_SESSION_AGENT_LOAD_H
#define JTOOL_SESSION_AGENT_LOAD_H

#include "attach/attach.h"
#include "discover/jvm.h"
#include "session/loaded_agents.h"

struct agent_load {
	const char *file;        /* path of the library in the target's root */
	const char *socket_path; /* path of the socket in the target's root */
	const char *token;
	/* part of an error message: what to do if the JVM does not permit loading agents */
	const char *remedy;
};

/*
 * Makes the JVM load the library load->file, with the attach operation "load".  Returns 0 when the
 * JVM has loaded the library; or -1 with err set as by attach_execute() or load_reply_check().
 */
int agent_load(const struct jvm *jvm, const struct attach_opts *opts,
	       const struct agent_load *load, struct err *err) _must_check_;

/*
 * Loads this build's agent.  If the JVM has mapped this build's agent already, loads it by the path
 * of that mapping, because the memory of the mapped library has the patches of earlier sessions.
 * Loads the file `staged` if there is no such mapping, if the target uses musl, or if the JVM
 * answers that it cannot load the mapped library.  Ignores load.file.  Returns as agent_load()
 * does.
 */
int agent_load_own(const struct jvm *jvm, const struct attach_opts *opts,
		   const struct loaded_agents *images, const char *staged, struct agent_load load,
		   struct err *err) _must_check_;

#endif
