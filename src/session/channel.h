/*
 * The client's end of the connection with the agent.  The client listens; it verifies by process id
 * and token that its peer is the agent.
 */
#ifndef JTOOL_SESSION_CHANNEL_H
#define JTOOL_SESSION_CHANNEL_H

#include "fileio/io.h"
#include "attach/target_ns.h"
#include "wire/cursor.h"
#include "wire/frame.h"

struct channel {
	int fd;              /* -1: not connected */
	const struct target_ns *ns; /* the target, to detect its exit */
	struct buf payload;  /* payload of the last frame that was received */
	unsigned frame_ms;   /* ms within which a frame that has begun must be complete */
	/* the agent has reported in HELLO that its library changed classes in an earlier session */
	bool code_changed;
};

#define CHANNEL_FRAME_MS 30000
#define CHANNEL_INIT(target_ns) \
	{ .fd = -1, .ns = (target_ns), .payload = BUF_INIT, .frame_ms = CHANNEL_FRAME_MS }

void channel_release(struct channel *c);

/* Creates a random token: WIRE_TOKEN_LEN hexadecimal digits and a NUL. */
void channel_new_token(char token[static WIRE_TOKEN_LEN + 1]);

/*
 * Waits for the target to connect and send HELLO with the token; closes any other connection.
 * Returns 0 or -ETIMEDOUT.
 */
int channel_accept(struct channel *c, int listener, const char *token, struct deadline deadline)
	_must_check_;

/*
 * Receives the next frame.  Returns 0; -ETIMEDOUT if no frame has begun before `begin` (NULL: no
 * limit), or if the frame is not complete c->frame_ms after it has begun; -ESRCH if the target has
 * exited; -EBADMSG if the data is not a frame of this version; -EPIPE if the agent has
 * disconnected; or another negative errno.  `payload` is valid until the next call.
 */
int channel_receive(struct channel *c, const struct deadline *begin, uint16_t *type,
		    struct wire_reader *payload) _must_check_;

/*
 * Waits until `until` (NULL: no limit) for data or the end of the connection.  Returns 0;
 * -ETIMEDOUT; -ESRCH if the target has exited; or another negative errno.
 */
int channel_wait(const struct channel *c, const struct deadline *until) _must_check_;

/*
 * Sends a frame.  `payload` may be NULL.  Returns 0 or a negative errno: -EMSGSIZE if the payload
 * is too long.
 */
int channel_send(struct channel *c, uint16_t type, const struct wire_writer *payload)
	_must_check_;

#endif
