/*
 * The client's end of a socket, in the same process as the agent's end that is tested.  It sends
 * and receives frames.  A frame that cannot be sent at once fails the test.
 */
#ifndef JTOOL_TESTS_PEER_H
#define JTOOL_TESTS_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "util/chan.h"
#include "wire/cursor.h"

struct peer {
	int fd; /* -1: closed */
	size_t n_unread;
	uint8_t unread[4 << 20]; /* the received part of an incomplete frame */
};

/* Connects a client to `chan`, which is initialised with memory from `mem`. */
void peer_open(struct peer *peer, struct ag_chan *chan, struct ag_mem *mem);
/* Closes the client's end, unless it is closed already. */
void peer_close(struct peer *peer);

/* Sends a frame, without a payload if `payload` is NULL. */
void peer_send(int fd, uint16_t type, const struct wire_writer *payload);
/* Sends the first half of a frame's header. */
void peer_send_half(int fd);
/*
 * Passes each frame to `take`, which must read it to its end.  Does not wait: the rest of an
 * incomplete frame may arrive before the next call.
 */
void peer_receive(struct peer *peer, void (*take)(uint16_t type, struct wire_reader *r));

#endif
