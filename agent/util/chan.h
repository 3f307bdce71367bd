/*
 * The channel: exchanges frames with the client over a connected AF_UNIX stream socket.
 *
 * Outgoing frames are buffered, and sent when the buffer is full or flushed.  Any error (the client
 * has exited, does not read for AG_CHAN_STALL_MS, or violates the protocol) breaks the channel for
 * good: every later call returns -1, and the session ends.  Sending never raises SIGPIPE.
 */
#ifndef JTOOL_AGENT_UTIL_CHAN_H
#define JTOOL_AGENT_UTIL_CHAN_H

#include <stdbool.h>

#include "util/mem.h"
#include "wire/cursor.h"
#include "wire/frame.h"

#ifndef AG_CHAN_STALL_MS /* tests define a shorter time */
#define AG_CHAN_STALL_MS 30000
#endif

/* Room for a payload with three strings of 65,535 bytes, the maximum length in a class file. */
#define AG_CHAN_PAYLOAD (200u * 1024)

struct ag_chan {
	int fd; /* open socket, which the channel closes; -1: none */
	bool broken;
	struct ag_mem *mem;
	uint8_t *out, *in;
	size_t out_len, out_sent;   /* bytes in `out`, and how many of them are already sent */
	struct wire_writer payload; /* writer of the frame that is being built */
};

/* Takes ownership of fd, even on failure.  Returns -1 if there is no memory. */
int ag_chan_init(struct ag_chan *ch, struct ag_mem *mem, int fd)
	__attribute__((warn_unused_result));
/* Frees the buffers and drops unsent frames.  The socket stays open: ag_chan_send() still works. */
void ag_chan_release(struct ag_chan *ch);
void ag_chan_close(struct ag_chan *ch);

/*
 * Begins a frame, and returns a writer with AG_CHAN_PAYLOAD bytes of room for the frame's payload.
 * Until the call of ag_chan_end(), no other frame may be begun or sent.  If the channel is broken,
 * the writer's member `failed` is true.
 */
struct wire_writer *ag_chan_begin(struct ag_chan *ch);
/* Ends the frame.  Returns -1 if the payload did not fit or the channel is broken. */
int ag_chan_end(struct ag_chan *ch, uint16_t type);
/* Sends all buffered frames.  Returns -1 if the channel is broken. */
int ag_chan_flush(struct ag_chan *ch);

/*
 * Limits how long the agent waits for the client while the JVM is paused: AG_CHAN_PAUSED_MS in
 * total, plus AG_CHAN_BYTE_NS for each byte sent to the client.  So a stopped client prolongs the
 * pause by AG_CHAN_PAUSED_MS only, and a slow client gets more time for each byte that it reads.
 */
#define AG_CHAN_PAUSED_MS 500
#define AG_CHAN_BYTE_NS 8
struct ag_wait_limit {
	uint64_t sent; /* bytes sent to the client so far */
	int64_t waited_ns; /* time waited for the client so far */
	int64_t until_ns;  /* deadline of the pause, on the clock of ag_now_ns() */
};

/*
 * Sends all buffered frames within the time of `limit`.  Returns 1 if all are sent; or 0 if
 * the client reads too slowly (the rest stays buffered); or -1 if the channel is broken.
 */
int ag_chan_flush_within(struct ag_chan *ch, struct ag_wait_limit *limit);

/* Sends as many buffered bytes as it can without waiting.  Returns -1 if the channel is broken. */
int ag_chan_try_flush(struct ag_chan *ch);
/*
 * Returns true if the buffer has room for frames of n bytes in total, including their headers, and
 * one more frame of any length.
 */
bool ag_chan_has_room(const struct ag_chan *ch, size_t n);
/*
 * Waits up to ms milliseconds for a frame from the client.  If the buffer has unsent bytes, the
 * wait also ends when the socket accepts bytes.  A signal ends the wait early.  Returns 1 if a
 * frame has arrived; or 0 if not; or -1 if the client has disconnected, which breaks the channel.
 */
int ag_chan_watch(struct ag_chan *ch, int ms);

/*
 * Sends one frame at once, without the buffer.  The payload has at most 64 bytes.  Returns -1 if
 * the channel is broken.
 */
int ag_chan_send(struct ag_chan *ch, uint16_t type, const struct wire_writer *payload);

struct ag_frame {
	uint16_t type;
	struct wire_reader payload; /* valid until the next ag_chan_receive() */
};

/*
 * Waits for a frame without a time limit.  Returns 1 with a frame; or 0 at end of file; or -1 on an
 * error.
 */
int ag_chan_receive(struct ag_chan *ch, struct ag_frame *frame)
	__attribute__((warn_unused_result));

#endif
