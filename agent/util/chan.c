#include "util/chan.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/clock.h"

#define GATHERED (64u * 1024) /* if more bytes are buffered, the next ag_chan_begin() sends them */
#define OUT_CAP (GATHERED + WIRE_HEADER_LEN + AG_CHAN_PAYLOAD)
#define SEND_MAX 64 /* maximum bytes of payload in ag_chan_send() */
#define NS_PER_MS 1000000

int ag_chan_init(struct ag_chan *ch, struct ag_mem *mem, int fd)
{
	*ch = (struct ag_chan){ .fd = fd, .mem = mem };
	ch->out = ag_alloc(mem, OUT_CAP, 1);
	if (!ch->out) {
		ag_chan_close(ch);
		return -1;
	}
	return 0;
}

void ag_chan_release(struct ag_chan *ch)
{
	ag_free(ch->mem, ch->out);
	ag_free(ch->mem, ch->in);
	ch->out = ch->in = NULL;
	ch->out_len = ch->out_sent = 0;
}

void ag_chan_close(struct ag_chan *ch)
{
	if (ch->fd >= 0)
		(void)close(ch->fd); /* even after an error of close() the peer sees end of file */
	ch->fd = -1;
	ch->broken = true;
}

static int broken(struct ag_chan *ch)
{
	ch->broken = true;
	return -1;
}

/*
 * Waits for `event`, which is POLLIN or POLLOUT.  Returns 0 when the event occurs; POLLIN occurs
 * also at end of file.  Returns -1 after timeout_ms, or if the client disconnects first.
 */
static int wait_for(struct ag_chan *ch, short event, int timeout_ms)
{
	struct pollfd p = { .fd = ch->fd, .events = (short)(event | POLLRDHUP) };
	int64_t end = ag_now_ns() + (int64_t)timeout_ms * NS_PER_MS;
	int n;

	/* EINTR is frequent if a profiler signals every thread of the JVM many times a second. */
	while ((n = poll(&p, 1, timeout_ms)) < 0 && errno == EINTR) {
		int64_t left = end - ag_now_ns();

		if (timeout_ms >= 0)
			timeout_ms = left > 0 ? (int)(left / NS_PER_MS) + 1 : 0;
	}
	return n > 0 && (p.revents & event) ? 0 : -1;
}

/* Sends as much as it can without waiting.  Returns the number of bytes, or -1 if broken. */
static ssize_t send_some(struct ag_chan *ch, const uint8_t *data, size_t len)
{
	ssize_t n;

	if (ch->broken)
		return -1;
	do
		n = send(ch->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN)
		return broken(ch);
	return n < 0 ? 0 : n;
}

static int send_all(struct ag_chan *ch, const uint8_t *data, size_t len)
{
	if (ch->broken)
		return -1;
	while (len > 0) {
		ssize_t n = send_some(ch, data, len);

		if (n < 0)
			return -1;
		if (n == 0 && wait_for(ch, POLLOUT, AG_CHAN_STALL_MS) != 0)
			return broken(ch);
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int ag_chan_flush(struct ag_chan *ch)
{
	size_t sent = ch->out_sent, len = ch->out_len - sent;

	ch->out_len = ch->out_sent = 0;
	return send_all(ch, ch->out + sent, len);
}

/* Waits until the socket accepts bytes.  Returns false at the limit, or if the client is gone. */
static bool wait_within_limit(struct ag_chan *ch, struct ag_wait_limit *p)
{
	int64_t begin = ag_now_ns(), left = (int64_t)AG_CHAN_PAUSED_MS * NS_PER_MS - p->waited_ns;
	int rc;

	left += (int64_t)p->sent * AG_CHAN_BYTE_NS;
	if (left > p->until_ns - begin)
		left = p->until_ns - begin;
	if (left <= 0)
		return false;
	rc = wait_for(ch, POLLOUT, (int)(left / NS_PER_MS) + 1);
	p->waited_ns += ag_now_ns() - begin;
	if (rc != 0 && ag_now_ns() - begin < left)
		/* the wait ended before the limit, so the client has disconnected */
		(void)broken(ch);
	return rc == 0;
}

int ag_chan_flush_within(struct ag_chan *ch, struct ag_wait_limit *limit)
{
	while (ch->out_sent < ch->out_len) {
		size_t len = ch->out_len - ch->out_sent;
		ssize_t n = send_some(ch, ch->out + ch->out_sent, len);

		if (n > 0) {
			ch->out_sent += (size_t)n;
			limit->sent += (uint64_t)n;
		} else if (n < 0 || !wait_within_limit(ch, limit)) {
			return ch->broken ? -1 : 0;
		}
	}
	ch->out_len = ch->out_sent = 0;
	return ch->broken ? -1 : 1;
}

int ag_chan_try_flush(struct ag_chan *ch)
{
	ssize_t n;

	while (ch->out_sent < ch->out_len) {
		n = send_some(ch, ch->out + ch->out_sent, ch->out_len - ch->out_sent);
		if (n <= 0)
			break;
		ch->out_sent += (size_t)n;
	}
	/* Move unsent bytes, if any, to the front; ag_chan_begin() appends the next frame. */
	ch->out_len -= ch->out_sent;
	memmove(ch->out, ch->out + ch->out_sent, ch->out_len);
	ch->out_sent = 0;
	return ch->broken ? -1 : 0;
}

bool ag_chan_has_room(const struct ag_chan *ch, size_t n)
{
	return ch->out_len <= GATHERED && n <= GATHERED - ch->out_len;
}

int ag_chan_watch(struct ag_chan *ch, int ms)
{
	bool more = ch->out_sent < ch->out_len;
	struct pollfd p = {
		.fd = ch->fd,
		.events = (short)(POLLIN | POLLRDHUP | (more ? POLLOUT : 0)),
	};

	if (ch->broken)
		return -1;
	/* A signal ends the wait early, as chan.h says. */
	if (poll(&p, 1, ms) < 0)
		return errno == EINTR ? 0 : broken(ch);
	if (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
		return broken(ch);
	return p.revents & POLLIN ? 1 : 0;
}

struct wire_writer *ag_chan_begin(struct ag_chan *ch)
{
	if (OUT_CAP - ch->out_len < WIRE_HEADER_LEN + AG_CHAN_PAYLOAD)
		(void)ag_chan_flush(ch); /* an error breaks the channel: ag_chan_end() reports it */
	ch->payload = wire_writer_init(ch->out + ch->out_len + WIRE_HEADER_LEN, AG_CHAN_PAYLOAD);
	ch->payload.failed = ch->broken;
	return &ch->payload;
}

int ag_chan_end(struct ag_chan *ch, uint16_t type)
{
	if (ch->broken || !wire_writer_ok(&ch->payload))
		return broken(ch);
	wire_header_write(ch->out + ch->out_len, type, (uint32_t)ch->payload.len);
	ch->out_len += WIRE_HEADER_LEN + ch->payload.len;
	return 0;
}

int ag_chan_send(struct ag_chan *ch, uint16_t type, const struct wire_writer *payload)
{
	uint8_t frame[WIRE_HEADER_LEN + SEND_MAX];

	if (!wire_writer_ok(payload) || payload->len > SEND_MAX)
		return broken(ch);
	wire_header_write(frame, type, (uint32_t)payload->len);
	memcpy(frame + WIRE_HEADER_LEN, payload->data, payload->len);
	return send_all(ch, frame, WIRE_HEADER_LEN + payload->len);
}

/* Receives len bytes.  Returns 1; or 0 at end of file before the first byte; or -1 on an error. */
static int receive_all(struct ag_chan *ch, uint8_t *data, size_t len, int timeout_ms)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = recv(ch->fd, data + got, len - got, MSG_DONTWAIT);

		if (n > 0) {
			got += (size_t)n;
			timeout_ms = AG_CHAN_STALL_MS;
			continue;
		}
		if (n == 0)
			return got == 0 ? 0 : -1;
		if (errno == EINTR)
			continue;
		if (errno == ECONNRESET && got == 0)
			return 0;
		if (errno != EAGAIN || wait_for(ch, POLLIN, timeout_ms) != 0)
			return -1;
	}
	return 1;
}

int ag_chan_receive(struct ag_chan *ch, struct ag_frame *frame)
{
	uint8_t raw[WIRE_HEADER_LEN];
	struct wire_header header;
	int n;

	ag_free(ch->mem, ch->in);
	ch->in = NULL;
	if (ch->broken)
		return -1;
	n = receive_all(ch, raw, sizeof(raw), -1);
	if (n <= 0)
		return n == 0 ? 0 : broken(ch);
	if (!wire_header_read(raw, &header))
		return broken(ch);
	ch->in = ag_alloc(ch->mem, header.len, 1);
	if (!ch->in || (header.len > 0 &&
			receive_all(ch, ch->in, header.len, AG_CHAN_STALL_MS) != 1))
		return broken(ch);
	*frame = (struct ag_frame){ header.type, wire_reader_init(ch->in, header.len) };
	return 1;
}
