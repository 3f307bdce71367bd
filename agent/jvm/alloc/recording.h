/*
 * The recording: an allocation profile that runs from the JVM's start (agent/startup/startup.h).
 * Three kinds of threads take turns with exclusive access: the recording's own thread, sessions
 * that read the recording, and the thread of the JVM's shutdown.  The recording ends at the JVM's
 * shutdown, or when a session requests the end, which the recording's own thread then carries out.
 *
 * An agent library has at most one recording and never frees it, so a thread that has found the
 * recording may read its sites at any later time.  A thread needs exclusive access to change the
 * recording, or to read values that must belong together: it calls ag_recording_enter() before, and
 * ag_recording_leave() after that, and holds no lock of the JVM in between.
 *
 * Every wait is limited, because a debugger may have suspended the thread that has access, and such
 * a thread must not block the JVM's shutdown.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_RECORDING_H
#define JTOOL_AGENT_JVM_ALLOC_RECORDING_H

#include "jvm/alloc/alloc_profile.h"

/*
 * Makes `profile`, which is running, the recording of this library.  jvm->ti and jvm->mem must
 * remain valid as long as the JVM runs.  Returns 0, or -1 with the error recorded.
 */
int ag_recording_begin(struct ag_jvm *jvm, struct ag_alloc_profile *profile, uint32_t flags);

struct ag_turn {
	struct ag_jvm jvm; /* `ti` and `mem` are the recording's; `jni` is that of the caller */
	struct ag_alloc_profile *profile;
	uint32_t flags;
};
/*
 * Waits for exclusive access to the recording.  Returns 1 if the caller has access, which lasts
 * until ag_recording_leave(); or 0 if there is no recording or the recording has ended; or -1 with
 * the error recorded.
 */
int ag_recording_enter(struct ag_jvm *jvm, struct ag_turn *turn);
void ag_recording_leave(void);

/* Returns true if a recording runs, and sets *ns to the nanoseconds since the recording began. */
bool ag_recording_is_on(uint64_t *ns);
/* If there is a recording, requests that the recording's own thread ends it. */
void ag_recording_ask_end(void);

/*
 * Waits up to ms milliseconds.  Only the recording's own thread may call this.  Returns false if
 * the JVM is shutting down, or if a session has requested that the recording ends.
 */
bool ag_recording_wait(int ms);
/*
 * Ends the recording for all other threads, whose calls of ag_recording_enter() return 0 from now
 * on.  Waits up to max_ms milliseconds until no other thread has access to the recording.  Sets
 * *turn to false if another thread still has access after that time, else to true.  Returns the
 * profile, which the caller must then end; or NULL if there is no recording, or if another thread
 * has begun to end it.
 */
struct ag_alloc_profile *ag_recording_end(int max_ms, bool *turn);

#endif
