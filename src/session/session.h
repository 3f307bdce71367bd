/*
 * One session with jtool's agent in a target: placed, loaded, connected back, checked.
 */
#ifndef JTOOL_SESSION_SESSION_H
#define JTOOL_SESSION_SESSION_H

#include "base/buf.h"
#include "base/err.h"
#include "target/attach.h"
#include "wire/cursor.h"
#include "wire/frame.h"

struct session;

/*
 * Place the agent, load it, wait for it to connect back, check that the peer is the target and
 * knows the token, and take its files away again: a session lives on its connection alone.
 * NULL with err set: EXIT_AGENT, or what attaching said.
 */
struct session *session_open(const struct jvm *jvm, const struct attach_opts *opts,
			     struct err *err) _must_check_;

/*
 * The same with an agent that the target has mapped already (image.h), of this or another build:
 * for what that one holds.  NULL for image is session_open().
 */
struct session *session_open_image(const struct jvm *jvm, const struct attach_opts *opts,
				   const char *image, struct err *err) _must_check_;

/* Is that image of this very build's agent? */
bool session_is_ours(const char *image);
/* The name of this build's agent in targets; the caller frees it. */
char *session_agent_name(const struct buf *agent) _must_check_;

/* Send a request. */
int session_send(struct session *s, uint16_t type, const struct wire_writer *payload,
		 struct err *err) _must_check_;

/* Take a frame: 0 when more come, 1 when it was the last one, negative when it makes no sense. */
typedef int session_take_fn(void *arg, uint16_t type, struct wire_reader *payload);

/*
 * Receive what is answered, frame by frame, until it was all taken.  Waits for ever (a heap walk
 * takes what it takes), but no longer than the target is there (EXIT_PARTIAL).  An ERROR frame is
 * made an error here, and so is one that makes no sense (EXIT_AGENT).
 */
int session_answer(struct session *s, session_take_fn *take, void *arg, struct err *err)
	_must_check_;

/*
 * The same of an answer that goes on until somebody ends it: beside take(), tick() is called about
 * every tick_ms, and may send a request.  -1 from it ends following with its err.  Frames may add
 * up to any size: what is kept of them is the taker's to bound.
 */
typedef int session_tick_fn(struct session *s, void *arg, struct err *err);
int session_follow(struct session *s, session_take_fn *take, session_tick_fn *tick,
		   unsigned tick_ms, void *arg, struct err *err) _must_check_;

/* The JVMTI error that the agent told of in place of an answer; 0: none, or none of the JVM's. */
int session_code(const struct session *s);

/*
 * Say goodbye and wait until the agent has undone and freed everything.  What it could not give
 * back is an error (EXIT_AGENT).  NULL is allowed.  Frees s.
 */
int session_close(struct session *s, struct err *err);

#endif
