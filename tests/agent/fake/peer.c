#include "agent/fake/peer.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/frame.h"

void peer_open(struct peer *peer, struct ag_chan *chan, struct ag_mem *mem)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(ag_chan_init(chan, mem, ends[0]), 0);
	peer->fd = ends[1];
	peer->n_unread = 0;
}

void peer_close(struct peer *peer)
{
	if (peer->fd >= 0)
		(void)close(peer->fd);
	peer->fd = -1;
}

void peer_send(int fd, uint16_t type, const struct wire_writer *payload)
{
	uint8_t header[WIRE_HEADER_LEN];
	size_t len = payload ? payload->len : 0;

	wire_header_write(header, type, (uint32_t)len);
	ck_assert_int_eq(send(fd, header, sizeof(header), MSG_NOSIGNAL), sizeof(header));
	if (len > 0)
		ck_assert_int_eq(send(fd, payload->data, len, MSG_NOSIGNAL), len);
}

void peer_send_half(int fd)
{
	const uint8_t half[WIRE_HEADER_LEN / 2] = { 0 };

	ck_assert_int_eq(send(fd, half, sizeof(half), MSG_NOSIGNAL), sizeof(half));
}

static void receive(struct peer *peer)
{
	uint8_t *unread = peer->unread;
	ssize_t n;

	do {
		n = recv(peer->fd, unread + peer->n_unread, sizeof(peer->unread) - peer->n_unread,
			 MSG_DONTWAIT);
		peer->n_unread += n > 0 ? (size_t)n : 0;
	} while (n > 0);
}

void peer_receive(struct peer *peer, void (*take)(uint16_t type, struct wire_reader *r))
{
	struct wire_header header;
	size_t at = 0;

	receive(peer);
	while (peer->n_unread - at >= WIRE_HEADER_LEN) {
		const uint8_t *payload = peer->unread + at + WIRE_HEADER_LEN;
		struct wire_reader r;

		ck_assert(wire_header_read(peer->unread + at, &header));
		if (header.len > peer->n_unread - at - WIRE_HEADER_LEN)
			break;
		r = wire_reader_init(payload, header.len);
		take(header.type, &r);
		ck_assert(wire_reader_ok(&r));
		ck_assert_ptr_eq(r.at, r.end);
		at += WIRE_HEADER_LEN + header.len;
	}
	memmove(peer->unread, peer->unread + at, peer->n_unread - at);
	peer->n_unread -= at;
}
