/*
 * A client at its end of a socket, in the same process as the agent's side that is tested: it says
 * frames, and hears those that have come.  What cannot be said at once fails the test.
 */
#ifndef JTOOL_TESTS_PEER_H
#define JTOOL_TESTS_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "base/chan.h"
#include "wire/cursor.h"

struct peer {
	int fd; /* -1: it has gone */
	size_t n_unread;
	uint8_t unread[4 << 20]; /* of a frame that is not whole yet */
};

/* A client is there, and a channel of `mem` to it. */
void peer_comes(struct peer *peer, struct ag_chan *chan, struct ag_mem *mem);
/* Also when it has gone before. */
void peer_goes(struct peer *peer);

/* Without a payload when that is NULL. */
void peer_says(int fd, uint16_t type, const struct wire_writer *payload);
/* The beginning of a frame, whose rest never comes. */
void peer_says_half(int fd);
/*
 * Each frame that has come is handed over, and must be read to its end.  Nothing is waited for: of
 * a frame that is not whole yet the rest may come until the next time.
 */
void peer_hears(struct peer *peer, void (*take)(uint16_t type, struct wire_reader *r));

#endif
