/*
 * The back-channel: frames over the connection that the agent has made to us.  Ours is the
 * listening end; who may be the other is checked twice, by process id and by token.
 */
#ifndef JTOOL_SESSION_CHANNEL_H
#define JTOOL_SESSION_CHANNEL_H

#include "base/io.h"
#include "target/ns.h"
#include "wire/cursor.h"
#include "wire/frame.h"

struct channel {
	int fd;              /* -1: not connected */
	const struct ns *ns; /* the target, to see its end */
	struct buf payload;  /* of the last frame */
};

#define CHANNEL_INIT(ns) { -1, (ns), BUF_INIT }

void channel_release(struct channel *c);

/* A new secret: WIRE_TOKEN_LEN hexadecimal digits and a NUL. */
void channel_new_token(char token[static WIRE_TOKEN_LEN + 1]);

/*
 * Wait for the target to connect and to say HELLO with the token.  Strangers are hung up on.
 * 0, or -ETIMEDOUT.
 */
int channel_accept(struct channel *c, int listener, const char *token, struct deadline deadline)
	_must_check_;

/*
 * The next frame; `begin` is when it must have begun, NULL: for ever.  0; -ESRCH when the
 * target is gone, -EBADMSG when it is no frame of this version, -EPIPE at the end, or another
 * negative errno.  The payload is valid until the next call.
 */
int channel_receive(struct channel *c, const struct deadline *begin, uint16_t *type,
		    struct wire_reader *payload) _must_check_;

/*
 * Wait until there is something to receive, or nothing will come any more; `until` as begin.  0,
 * or as channel_receive: -ETIMEDOUT, -ESRCH.
 */
int channel_wait(const struct channel *c, const struct deadline *until) _must_check_;

/* payload may be NULL.  0 or a negative errno; -EMSGSIZE when it is too long. */
int channel_send(struct channel *c, uint16_t type, const struct wire_writer *payload)
	_must_check_;

#endif
