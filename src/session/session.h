/*
 * One session with jtool's agent in a target: placed, loaded, connected back, checked.
 */
#ifndef JTOOL_SESSION_SESSION_H
#define JTOOL_SESSION_SESSION_H

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

/* Send a request. */
int session_send(struct session *s, uint16_t type, const struct wire_writer *payload,
		 struct err *err) _must_check_;

struct session_frame {
	uint16_t type;
	struct wire_reader payload; /* valid until the next receive */
};

/*
 * The next frame.  timeout_ms is for it to begin; 0: for ever (a heap walk takes what it takes),
 * ended early when the target goes away (EXIT_PARTIAL).  An ERROR frame is made an error here,
 * so callers see results only.
 */
int session_receive(struct session *s, struct session_frame *frame, unsigned timeout_ms,
		    struct err *err) _must_check_;

/*
 * Say goodbye and wait until the agent has undone and freed everything.  What it could not give
 * back is an error (EXIT_AGENT).  NULL is allowed.  Frees s.
 */
int session_close(struct session *s, struct err *err);

/* A payload that ended too early or a frame out of turn: the error to return. */
int session_bad_frame(const struct session_frame *frame, struct err *err);

#endif
