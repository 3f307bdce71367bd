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
 * Wakes this build's agent if it sleeps in the target; see wake.h.  Otherwise stages the agent's
 * file and loads it.  Waits for the agent to connect, verifies its process id and token, and
 * removes what was staged.  Returns NULL with `err` set: EXIT_AGENT, or an attach error.
 */
struct session *session_open(const struct jvm *jvm, const struct attach_opts *opts,
			     struct err *err) _must_check_;

/*
 * Opens a session with the agent image at the path `image`, which the target has mapped already, to
 * reach the patches in that image; see loaded_agents.h.  If `image` is NULL, does what
 * session_open() does.
 */
struct session *session_open_image(const struct jvm *jvm, const struct attach_opts *opts,
				   const char *image, struct err *err) _must_check_;

/* Returns true if the session is known to be with the agent of this build. */
bool session_is_this_build(const struct session *s);
/* Returns true if the agent's library has changed the code of classes in an earlier session. */
bool session_has_changed_code(const struct session *s);
/*
 * Returns the file name under which this build's agent is staged in targets; the caller frees it.
 */
char *session_agent_name(const struct buf *agent) _must_check_;

int session_send(struct session *s, uint16_t type, const struct wire_writer *payload,
		 struct err *err) _must_check_;

/*
 * A function that processes a frame.  Returns 0 if more frames follow, 1 for the last one, and a
 * negative number if the frame is invalid.
 */
typedef int session_take_fn(void *arg, uint16_t type, struct wire_reader *payload);

/*
 * Receives frames and calls take() for each until take() returns 1.  Returns 0, or -1 with `err`
 * set: EXIT_PARTIAL if the target exits, or if the agent sends less than STALL_BYTES within the
 * timeout (see fileio/slow_peer.h); EXIT_AGENT after an invalid frame, or if the connection fails;
 * or the error of an ERROR frame.
 */
int session_answer(struct session *s, session_take_fn *take, void *arg, struct err *err)
	_must_check_;

/*
 * Like session_answer(), for a request during which the agent sends nothing for long, such as a
 * heap walk or a redefinition: the timeout is then ATTACH_LONG_MS, unless the session's own timeout
 * is longer.
 */
int session_answer_long(struct session *s, session_take_fn *take, void *arg, struct err *err)
	_must_check_;

/*
 * Receives frames like session_answer(), but without a limit for their total length: take() must
 * limit what it stores.  Calls tick() about every tick_ms; tick() may send a request.  If tick()
 * returns -1, session_follow() returns -1 with the same error.
 */
typedef int session_tick_fn(struct session *s, void *arg, struct err *err);
int session_follow(struct session *s, session_take_fn *take, session_tick_fn *tick,
		   unsigned tick_ms, void *arg, struct err *err) _must_check_;

/*
 * Returns the JVMTI error code of the last ERROR frame; 0 if there was no such frame or it had no
 * code.
 */
int session_jvmti_error(const struct session *s);

/*
 * Interrupts a call of session_answer() that waits in another thread; the call returns an error.
 * May be called from any thread.
 */
void session_interrupt(struct session *s);

/*
 * Ends the session: waits until the agent has restored the JVM and freed its memory.  Sets
 * EXIT_AGENT if the agent reports that something remains in the JVM.  Frees `s`, which may be NULL.
 */
int session_close(struct session *s, struct err *err);

#endif
