/* One session with jtool's agent in a target. */
#ifndef JTOOL_SESSION_SESSION_H
#define JTOOL_SESSION_SESSION_H

#include "base/buf.h"
#include "base/err.h"
#include "attach/attach.h"
#include "wire/cursor.h"
#include "wire/frame.h"

struct session;

/*
 * If this build's agent sleeps in the target, wakes it (wake.h).  Otherwise stages the agent's file
 * and makes the target load the file.  Waits for the agent to connect, verifies its process id and
 * token, and removes the staged file.  Returns the session; or NULL with `err` set: EXIT_AGENT, or
 * an attach error.
 */
struct session *session_open(const struct jvm *jvm, const struct attach_opts *opts,
			     struct err *err) _must_check_;

/*
 * Opens a session with an agent that the target has loaded already, to reach the patches that this
 * agent has made (loaded_agents.h).  `image` is the path of the agent's library; if it is NULL,
 * does what session_open() does.
 */
struct session *session_open_image(const struct jvm *jvm, const struct attach_opts *opts,
				   const char *image, struct err *err) _must_check_;

/* Returns true if it is certain that the session's agent is from this build of jtool. */
bool session_is_this_build(const struct session *s);
/* Returns true if the agent has changed the code of classes in an earlier session. */
bool session_has_changed_code(const struct session *s);
/*
 * Returns the name of the file in which this build's agent is staged; the caller frees the name.
 * `agent` has the content of this file.
 */
char *session_agent_name(const struct buf *agent) _must_check_;

int session_send(struct session *s, uint16_t type, const struct wire_writer *payload,
		 struct err *err) _must_check_;

/*
 * A function that processes a frame.  Returns 0 if more frames follow; 1 if the frame was the last
 * one; or a negative number if the frame is invalid.
 */
typedef int session_take_fn(void *arg, uint16_t type, struct wire_reader *payload);

/*
 * Receives frames, and calls take() for each frame until take() returns 1.  Returns 0; or -1 with
 * `err` set:
 *     EXIT_PARTIAL   the target exits or shuts down, or the agent sends less than STALL_BYTES
 *                    within the timeout (see fileio/slow_peer.h)
 *     EXIT_AGENT     a frame is invalid, the answer is too long, or the connection fails
 *     EXIT_ANSWER    the agent has sent an ERROR frame, whose text is then in `err`
 */
int session_answer(struct session *s, session_take_fn *take, void *arg, struct err *err)
	_must_check_;

/*
 * Like session_answer(), but for a request during which the agent may send nothing for a long time,
 * such as a heap walk or a redefinition.  The timeout is ATTACH_LONG_MS or, if it is longer, the
 * session's own timeout.
 */
int session_answer_long(struct session *s, session_take_fn *take, void *arg, struct err *err)
	_must_check_;

/*
 * Receives frames like session_answer(), but without a timeout and without a limit for the total
 * length of the frames, so take() must limit what it stores.  Calls tick() about every tick_ms
 * milliseconds; tick() may send a request.  If tick() returns -1 with err set, session_follow()
 * returns -1.
 */
typedef int session_tick_fn(struct session *s, void *arg, struct err *err);
int session_follow(struct session *s, session_take_fn *take, session_tick_fn *tick,
		   unsigned tick_ms, void *arg, struct err *err) _must_check_;

/*
 * Returns the JVMTI error code in the last ERROR frame; 0 if there was no ERROR frame, or if that
 * frame had no code.
 */
int session_jvmti_error(const struct session *s);

/*
 * Ends a call of session_answer() in another thread: the call returns -1.  May be called from any
 * thread.
 */
void session_interrupt(struct session *s);

/*
 * Ends the session: waits until the agent has restored the JVM and freed its memory.  Frees `s`,
 * which may be NULL.  Returns 0; or -1 with `err` set: EXIT_AGENT if the agent reports that some of
 * its memory or references remain in the JVM.
 */
int session_close(struct session *s, struct err *err);

#endif
