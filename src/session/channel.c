#include "session/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fileio/watchdog.h"

#define ALIVE_CHECK_MS 1000
#define SEND_MS 30000 /* maximum ms for sending one frame */

void channel_release(struct channel *c)
{
	util_close_p(&c->fd);
	c->fd = -1;
	buf_release(&c->payload);
}

void channel_new_token(char token[static WIRE_TOKEN_LEN + 1])
{
	unsigned char random[WIRE_TOKEN_LEN / 2];

	arc4random_buf(random, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		(void)snprintf(token + 2 * i, 3, "%02x", random[i]);
}

/*
 * The target's pidfd reports the exit of the target.  Because the kernel may have no pidfds, also
 * checks every second whether the target is alive.
 */
int channel_wait(const struct channel *c, const struct deadline *until)
{
	struct pollfd pfds[2] = {
		{ .fd = c->fd, .events = POLLIN },
		{ .fd = c->ns->pid_fd, .events = POLLIN },
	};

	for (;;) {
		int left = until ? deadline_left_ms(*until) : ALIVE_CHECK_MS;
		int n = poll(pfds, 2, left < ALIVE_CHECK_MS ? left : ALIVE_CHECK_MS);

		if (n < 0 && errno != EINTR)
			return -errno;
		watchdog_extend(ALIVE_CHECK_MS);
		/*
		 * Check for data before the exit of the target, because data that arrived before
		 * the exit must still be received.
		 */
		if (n > 0 && pfds[0].revents)
			return 0;
		if (target_ns_alive(c->ns) < 0)
			return -ESRCH;
		if (until && deadline_passed(*until))
			return -ETIMEDOUT;
	}
}

int channel_receive(struct channel *c, const struct deadline *begin, uint16_t *type,
		    struct wire_reader *payload)
{
	uint8_t head[WIRE_HEADER_LEN];
	struct wire_header header;
	struct deadline deadline;
	int rc = channel_wait(c, begin);

	if (rc < 0)
		return rc;
	deadline = deadline_in_ms(c->frame_ms);
	rc = io_read_exact(c->fd, head, sizeof(head), deadline);
	if (rc < 0)
		return rc;
	if (!wire_header_read(head, &header))
		return -EBADMSG;
	buf_reset(&c->payload);
	rc = io_read_exact(c->fd, buf_reserve(&c->payload, header.len), header.len, deadline);
	if (rc < 0)
		return rc;
	*type = header.type;
	*payload = wire_reader_init(c->payload.data, header.len);
	return 0;
}

int channel_send(struct channel *c, uint16_t type, const struct wire_writer *payload)
{
	_cleanup_buf_ struct buf frame = BUF_INIT;
	uint8_t head[WIRE_HEADER_LEN];
	size_t len = payload ? payload->len : 0;

	if ((payload && !wire_writer_ok(payload)) || len > WIRE_PAYLOAD_MAX)
		return -EMSGSIZE;
	wire_header_write(head, type, (uint32_t)len);
	buf_add(&frame, head, sizeof(head));
	if (len)
		buf_add(&frame, payload->data, len);
	return io_write_all(c->fd, frame.data, frame.len, deadline_in_ms(SEND_MS));
}

/*
 * Returns true if the process that has connected has the target's pid.  The check is needed because
 * every process of the target's user can connect.
 */
static bool is_target(const struct channel *c)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       peer.pid == c->ns->jvm->pid;
}

/*
 * Parses the last fields of HELLO.  Returns true if the agent reports that it has changed code.  An
 * agent of an older build does not report that: for such an agent returns false, even if it has
 * patches.
 */
static bool has_changed_code(struct wire_reader payload)
{
	(void)wire_get_u32(&payload); /* the agent's process id in its own pid namespace */
	(void)wire_get_u32(&payload); /* JVMTI version */
	(void)wire_get_text(&payload); /* build */
	return wire_get_u32(&payload) == 1 && wire_reader_ok(&payload);
}

static bool knows_token(struct channel *c, const char *token, struct deadline deadline)
{
	struct wire_reader payload;
	struct wire_text text;
	uint16_t type;

	if (channel_receive(c, &deadline, &type, &payload) < 0 || type != WIRE_HELLO)
		return false;
	text = wire_get_text(&payload);
	c->code_changed = has_changed_code(payload);
	return wire_reader_ok(&payload) && text.len == WIRE_TOKEN_LEN &&
	       memcmp(text.data, token, WIRE_TOKEN_LEN) == 0;
}

int channel_accept(struct channel *c, int listener, const char *token, struct deadline deadline)
{
	int rc;

	while ((rc = io_wait(listener, POLLIN, deadline)) == 0) {
		c->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (c->fd >= 0 && is_target(c) && knows_token(c, token, deadline))
			return 0;
		util_close_p(&c->fd);
		c->fd = -1;
		/* io_wait() does not report the deadline while connections are waiting. */
		if (deadline_passed(deadline))
			return -ETIMEDOUT;
	}
	return rc;
}
