/*
 * The profile that goes on since the JVM's start (agent/startup.h), and whose turn it is with it:
 * its own thread's, that of a session that looks at it, or the JVM's end's.
 *
 * There is one in a library at most, and it is never given back: whoever has found it may go on
 * reading its sites.  What changes it, or must find it unchanged, is done between enter and
 * leave.  Nobody holds a lock of the JVM's meanwhile, and nobody waits for it without end: a
 * thread may be suspended by a debugger, and the JVM's end is not held up by that.
 */
#ifndef JTOOL_AGENT_JVM_RECORDING_H
#define JTOOL_AGENT_JVM_RECORDING_H

#include "jvm/profile.h"

/* Let sessions find it; jvm->ti and its memory stay as long as the JVM.  flags: WIRE_ALLOC_*. */
int ag_recording_begin(struct ag_jvm *jvm, struct ag_profile *profile, uint32_t flags);

struct ag_turn {
	struct ag_jvm jvm; /* the recording's environment and memory, on the caller's thread */
	struct ag_profile *profile;
	uint32_t flags;
};
/* 1: it is the caller's turn, until it leaves; 0: nothing is recorded; -1: error, not in time. */
int ag_recording_enter(struct ag_jvm *jvm, struct ag_turn *turn);
void ag_recording_leave(void);

/* Its own thread waits; false: the JVM ends. */
bool ag_recording_rest(int ms);
/*
 * The JVM ends: nobody enters any more but the caller, who never leaves.  NULL: there is none;
 * *turn: whether others are done with it, or had to be left where they are.
 */
struct ag_profile *ag_recording_end(bool *turn);

#endif
