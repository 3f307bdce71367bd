/* Shared by session.c (requests and answers) and session_open.c (connecting). */
#ifndef JTOOL_SESSION_SESSION_INTERNAL_H
#define JTOOL_SESSION_SESSION_INTERNAL_H

#include "attach/target_ns.h"
#include "session/channel.h"
#include "session/session.h"
#include "session/staging/staged_file.h"

struct session {
	const struct jvm *jvm;
	const struct verbose *verbose;
	struct target_ns ns;
	struct staged_file *staged;
	struct channel channel;
	bool this_build; /* the agent in the JVM is known to be of this build of jtool */
	unsigned timeout_ms;
	bool broken; /* a protocol error has occurred, so the session can only be closed */
	int32_t code; /* the JVMTI error of the last ERROR frame */
};

/* Returns true if the target has exited, or exits within wait_ms milliseconds. */
bool session_is_gone(const struct session *s, int wait_ms);
/* Disconnects, removes the staged files, and frees the session. */
void session_free(struct session *s);

#endif
