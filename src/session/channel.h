/*
 * The client's end of the connection with the agent.  The client listens and the agent connects.
 * The client verifies, by process id and token, that the process that has connected is the agent.
 */
#ifndef JTOOL_SESSION_CHANNEL_H
#define JTOOL_SESSION_CHANNEL_H

#include "fileio/io.h"
#include "attach/target_ns.h"
#include "wire/cursor.h"
#include "wire/frame.h"

struct channel {
	int fd;              /* -1: not connected */
	const struct target_ns *ns; /* the target, whose exit must be detected */
	struct buf payload;  /* payload of the frame that was received last */
	unsigned frame_ms;   /* a frame must be complete within this many ms after it has begun */
	/* the agent's first frame (HELLO) said that it has changed classes in an earlier session */
	bool code_changed;
};

#define CHANNEL_FRAME_MS 30000
#define CHANNEL_INIT(target_ns) \
	{ .fd = -1, .ns = (target_ns), .payload = BUF_INIT, .frame_ms = CHANNEL_FRAME_MS }

void channel_release(struct channel *c);

/* Creates a random token: WIRE_TOKEN_LEN hexadecimal digits and a NUL. */
void channel_new_token(char token[static WIRE_TOKEN_LEN + 1]);

/*
 * Waits until the target has connected and sent HELLO with the token.  Closes every connection of
 * another process, or with another token.  Returns 0; -ETIMEDOUT; or another negative errno.
 */
int channel_accept(struct channel *c, int listener, const char *token, struct deadline deadline)
	_must_check_;

/*
 * Receives the next frame.  *payload is valid until the next call.  Returns 0 or a negative errno:
 * -ETIMEDOUT  no frame has begun by the deadline `begin` (NULL: no deadline), or a frame has begun
 *             but is not complete within c->frame_ms
 * -ESRCH      the target has exited
 * -EBADMSG    the data is not a frame of this protocol version
 * -EPIPE      the agent has disconnected
 */
int channel_receive(struct channel *c, const struct deadline *begin, uint16_t *type,
		    struct wire_reader *payload) _must_check_;

/*
 * Waits until data has arrived or the connection has ended, but at most until the deadline `until`
 * (NULL: no deadline).  Returns 0; -ETIMEDOUT; -ESRCH if the target has exited; or another negative
 * errno.
 */
int channel_wait(const struct channel *c, const struct deadline *until) _must_check_;

/*
 * Sends a frame.  `payload` NULL: the frame has no payload.  Returns 0 or a negative errno:
 * -EMSGSIZE if the payload is too long.
 */
int channel_send(struct channel *c, uint16_t type, const struct wire_writer *payload)
	_must_check_;

#endif
