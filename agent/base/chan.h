/*
 * The back-channel: frames to and from the client over a connected AF_UNIX stream socket.
 *
 * Frames that go out are gathered in one buffer and sent when it is full or flushed.  Whatever
 * goes wrong (the client died, does not read for AG_CHAN_STALL_MS, speaks another protocol)
 * breaks the channel for good: every later call returns -1, and the session ends.  A SIGPIPE is
 * never raised.
 */
#ifndef JTOOL_AGENT_BASE_CHAN_H
#define JTOOL_AGENT_BASE_CHAN_H

#include <stdbool.h>

#include "base/mem.h"
#include "wire/cursor.h"
#include "wire/frame.h"

#ifndef AG_CHAN_STALL_MS /* tests are less patient */
#define AG_CHAN_STALL_MS 30000
#endif

/*
 * A payload to write has this room at least: three texts of the JVM's limit of 65,535 bytes, the
 * name, the descriptor and the generic signature of a method, fit.
 */
#define AG_CHAN_PAYLOAD (200u * 1024)

struct ag_chan {
	int fd; /* the channel's; -1: none */
	bool broken;
	struct ag_mem *mem;
	uint8_t *out, *in;
	size_t out_len, out_sent; /* gathered; of that, sent already */
	struct wire_writer payload; /* of the frame that is being written */
};

/* Takes the descriptor over, also on failure; -1: no memory. */
int ag_chan_init(struct ag_chan *ch, struct ag_mem *mem, int fd)
	__attribute__((warn_unused_result));
/* Free the buffers, dropping what was not flushed; the socket stays open for ag_chan_send. */
void ag_chan_release(struct ag_chan *ch);
void ag_chan_close(struct ag_chan *ch);

/*
 * Begin a frame: the returned writer has AG_CHAN_PAYLOAD bytes of room.  Nothing else may be
 * sent before ag_chan_end.  On a broken channel it writes nowhere.
 */
struct wire_writer *ag_chan_begin(struct ag_chan *ch);
/* Complete it.  -1: the payload did not fit, or the channel is broken. */
int ag_chan_end(struct ag_chan *ch, uint16_t type);
/* Send what was gathered. */
int ag_chan_flush(struct ag_chan *ch);

/*
 * What the client is waited for while the JVM stands still: AG_CHAN_HURRY_MS altogether, and
 * AG_CHAN_BYTE_NS more for each byte that it took.  One that is stopped holds nobody up for long,
 * one that is merely busy is let do its work.
 */
#define AG_CHAN_HURRY_MS 500
#define AG_CHAN_BYTE_NS 8
struct ag_patience {
	uint64_t sent;
	int64_t waited_ns;
	int64_t until_ns; /* ag_now_ns() time that is the end in any case */
};

/*
 * Send what was gathered, in a hurry.  1: it is sent.  0: the client does not take it fast enough;
 * the rest is kept for ag_chan_flush.  -1: broken.
 */
int ag_chan_hurry(struct ag_chan *ch, struct ag_patience *patience);

/* Send of what was gathered as much as the client takes at once; -1: broken. */
int ag_chan_trickle(struct ag_chan *ch);
/*
 * Is there room to gather frames of n bytes more, their headers included, and to begin one more
 * behind them, without sending?
 */
bool ag_chan_has_room(const struct ag_chan *ch, size_t n);
/*
 * Wait at most ms milliseconds until the client says something, or would take more of what was
 * gathered.  1: it said something; 0: it did not; -1: it is gone, or hears no more, which breaks
 * the channel.  A signal ends the wait early.
 */
int ag_chan_watch(struct ag_chan *ch, int ms);

/* Send one small frame at once and without a buffer: at most 64 bytes of payload. */
int ag_chan_send(struct ag_chan *ch, uint16_t type, const struct wire_writer *payload);

struct ag_frame {
	uint16_t type;
	struct wire_reader payload; /* valid until the next receive */
};

/* Wait for the next frame, however long it takes to begin.  1: there is one, 0: the client is
 * gone between two frames, -1: broken. */
int ag_chan_receive(struct ag_chan *ch, struct ag_frame *frame)
	__attribute__((warn_unused_result));

#endif
