/*
 * The recording: a profile that runs from the JVM's start (agent/startup/startup.h).  Its own
 * thread, sessions that read it, and the JVM's shutdown have exclusive access in turn.  It ends at
 * the JVM's shutdown, or on its own thread when a session asks for it.
 *
 * A library has at most one recording and never frees it, so a thread that has found it may
 * continue to read its sites.  Operations that change it, or need it unchanged, run between enter
 * and leave.  Callers hold no lock of the JVM meanwhile.  Every wait is limited: a debugger may
 * have suspended a thread, and that must not block the JVM's shutdown.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_RECORDING_H
#define JTOOL_AGENT_JVM_ALLOC_RECORDING_H

#include "jvm/alloc/alloc_profile.h"

/* Publishes the recording; jvm->ti and jvm->mem must remain valid.  -1: error recorded. */
int ag_recording_begin(struct ag_jvm *jvm, struct ag_alloc_profile *profile, uint32_t flags);

struct ag_turn {
	struct ag_jvm jvm; /* the recording's environment and memory, for the caller's thread */
	struct ag_alloc_profile *profile;
	uint32_t flags;
};
/* Enters.  1: exclusive access until leave(); 0: there is no recording; -1: error recorded. */
int ag_recording_enter(struct ag_jvm *jvm, struct ag_turn *turn);
void ag_recording_leave(void);

/* Returns true and the time since it began if there is a recording that has not ended. */
bool ag_recording_is_on(uint64_t *ns);
/* Asks the recording's own thread to end it, if there is one. */
void ag_recording_ask_end(void);

/*
 * Waits up to ms milliseconds, on the recording's own thread.  False: the JVM is shutting down, or
 * a session has asked for the end.
 */
bool ag_recording_wait(int ms);
/*
 * Enters to end the recording: all later calls of enter return 0.  Returns NULL if there is no
 * recording or another thread ends it; waits for that one to leave.  *turn is false if another
 * thread has not left within max_ms.
 */
struct ag_alloc_profile *ag_recording_end(int max_ms, bool *turn);

#endif
