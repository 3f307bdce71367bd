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

#ifndef AG_CHAN_STALL_MS /* shorter in tests */
#define AG_CHAN_STALL_MS 30000
#endif

/* Room for a payload with three strings of 65,535 bytes, the maximum length in a class file. */
#define AG_CHAN_PAYLOAD (200u * 1024)

struct ag_chan {
	int fd; /* owned; -1: none */
	bool broken;
	struct ag_mem *mem;
	uint8_t *out, *in;
	size_t out_len, out_sent;   /* bytes buffered, and how many of these are already sent */
	struct wire_writer payload; /* of the frame that is being written */
};

/* Takes ownership of fd, also on failure.  Returns -1 if there is no memory. */
int ag_chan_init(struct ag_chan *ch, struct ag_mem *mem, int fd)
	__attribute__((warn_unused_result));
/* Frees the buffers and drops unsent frames.  The socket stays open for ag_chan_send(). */
void ag_chan_release(struct ag_chan *ch);
void ag_chan_close(struct ag_chan *ch);

/*
 * Begins a frame, and returns a writer with AG_CHAN_PAYLOAD bytes of room.  Nothing else may be
 * sent before ag_chan_end().  On a broken channel the writer has failed.
 */
struct wire_writer *ag_chan_begin(struct ag_chan *ch);
/* Ends the frame.  Returns -1 if the payload did not fit or the channel is broken. */
int ag_chan_end(struct ag_chan *ch, uint16_t type);
/* Sends all buffered frames. */
int ag_chan_flush(struct ag_chan *ch);

/*
 * The time to wait for the client while the JVM is paused: AG_CHAN_PAUSED_MS in total, plus
 * AG_CHAN_BYTE_NS for each byte sent to the client.  A stopped client prolongs the pause by
 * AG_CHAN_PAUSED_MS only; a busy one gets time in proportion to its progress.
 */
#define AG_CHAN_PAUSED_MS 500
#define AG_CHAN_BYTE_NS 8
struct ag_wait_limit {
	uint64_t sent; /* bytes so far */
	int64_t waited_ns;
	int64_t until_ns; /* absolute deadline, as ag_now_ns() */
};

/*
 * Sends all buffered frames within the time of `limit`.  Returns 1 if all are sent, 0 if the
 * client reads too slowly (the rest stays buffered), or -1 if the channel is broken.
 */
int ag_chan_flush_within(struct ag_chan *ch, struct ag_wait_limit *limit);

/* Sends as many buffered bytes as possible without waiting.  -1: the channel is broken. */
int ag_chan_try_flush(struct ag_chan *ch);
/* Returns true if the buffer has room for n bytes of frames, with headers, and one more frame. */
bool ag_chan_has_room(const struct ag_chan *ch, size_t n);
/*
 * Waits up to ms milliseconds for a frame from the client, or until more of the buffer can be sent.
 * Returns 1 if there is a frame, 0 if not, or -1 if the client has disconnected, which breaks the
 * channel.  A signal ends the wait early.
 */
int ag_chan_watch(struct ag_chan *ch, int ms);

/* Sends a frame immediately, without the buffer.  The payload has at most 64 bytes. */
int ag_chan_send(struct ag_chan *ch, uint16_t type, const struct wire_writer *payload);

struct ag_frame {
	uint16_t type;
	struct wire_reader payload; /* valid until the next receive */
};

/* Waits for a frame without a time limit.  Returns 1, 0 at end of file, or -1. */
int ag_chan_receive(struct ag_chan *ch, struct ag_frame *frame)
	__attribute__((warn_unused_result));

#endif
