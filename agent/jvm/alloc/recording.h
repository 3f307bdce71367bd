/*
 * The recording: a profile that runs from the JVM's start (agent/startup/startup.h).  Its own
 * thread, sessions that read it, and the JVM's shutdown have exclusive access in turn.
 *
 * A library has at most one recording and never frees it, so a thread that has found it may
 * continue to read its sites.  Operations that change it, or need it unchanged, run between enter
 * and leave.  Callers hold no lock of the JVM meanwhile.  Every wait is limited: a debugger may
 * have suspended a thread, and that must not block the JVM's shutdown.
 */
#ifndef JTOOL_AGENT_JVM_RECORDING_H
#define JTOOL_AGENT_JVM_RECORDING_H

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

/* Waits up to ms milliseconds, on the recording's own thread.  False: the JVM is shutting down. */
bool ag_recording_wait(int ms);
/*
 * Enters for the JVM's shutdown, and never leaves: all later calls of enter return 0.  Returns NULL
 * if there is no recording.  *turn is false if another thread has not left in time.
 */
struct ag_alloc_profile *ag_recording_end(bool *turn);

#endif
