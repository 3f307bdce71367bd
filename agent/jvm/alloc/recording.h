/*
 * The recording: a profile that runs from the JVM's start (agent/startup/startup.h).  The
 * recording's own thread, sessions that read it, and the JVM's shutdown have exclusive access in
 * turn.  The recording ends at the JVM's shutdown, or on its own thread when a session requests
 * that.
 *
 * A library has at most one recording and never frees it, so a thread that has found it may
 * continue to read its sites.  A thread that changes the recording, or needs it unchanged, does so
 * between ag_recording_enter() and ag_recording_leave(), and holds no lock of the JVM meanwhile.
 * Every wait is limited: a debugger may have suspended a thread, and that must not block the JVM's
 * shutdown.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_RECORDING_H
#define JTOOL_AGENT_JVM_ALLOC_RECORDING_H

#include "jvm/alloc/alloc_profile.h"

/*
 * Publishes the recording; jvm->ti and jvm->mem must remain valid.  Returns 0, or -1 with the error
 * recorded.
 */
int ag_recording_begin(struct ag_jvm *jvm, struct ag_alloc_profile *profile, uint32_t flags);

struct ag_turn {
	struct ag_jvm jvm; /* the recording's environment and memory, for the caller's thread */
	struct ag_alloc_profile *profile;
	uint32_t flags;
};
/*
 * Returns 1 with exclusive access until ag_recording_leave(), or 0 if there is no recording, or -1
 * with the error recorded.
 */
int ag_recording_enter(struct ag_jvm *jvm, struct ag_turn *turn);
void ag_recording_leave(void);

/* Returns true if there is a recording that has not ended, and stores the ns since its begin. */
bool ag_recording_is_on(uint64_t *ns);
/* Requests that the recording's own thread ends the recording, if there is one. */
void ag_recording_ask_end(void);

/*
 * Waits up to ms milliseconds, on the recording's own thread.  Returns false if the JVM is shutting
 * down, or if a session has requested the end.
 */
bool ag_recording_wait(int ms);
/*
 * Ends the recording for all other threads: their calls of ag_recording_enter() return 0 from now
 * on.  Returns the profile, for which *turn is false if another thread has not left within max_ms.
 * Returns NULL if there is no recording, or if another thread ends it; then waits until that thread
 * has left.
 */
struct ag_alloc_profile *ag_recording_end(int max_ms, bool *turn);

#endif
