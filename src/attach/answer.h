/*
 * Sends a request, waits for the answer and reads it, within limits of time and size: a target
 * may be silent, stop in the middle of an answer, send a byte now and then, or send without end.
 */
#ifndef JTOOL_ATTACH_ANSWER_H
#define JTOOL_ATTACH_ANSWER_H

#include "attach/attach.h"
#include "attach/attach_socket.h"
#include "base/progress.h"
#include "fileio/slow_peer.h"

struct answer_reader {
	const struct attach_socket *asock;
	int sock;
	const struct attach_opts *opts;
	bool is_long; /* the operation may take long, see attach_execute_long() */
	/* set by answer_request(): the JVM has no complete request, and will not carry it out */
	bool is_withheld;
	/* The next members are used by answer.c only. */
	struct stall stall;
	struct progress line;
	int64_t begin_ns; /* when the wait began, by monotonic_ns(); 0: not yet */
};

/*
 * Sends a request of either version.  Holds back a part of it until the JVM has read the rest, or
 * the deadline has passed.  Without this part, the JVM discards the request when the connection
 * ends (read_request() in attachListener_posix.cpp; AttachOperation::read_request() from JDK 24
 * on).  A complete request would stay in the queue of a busy listener, and the JVM would carry it
 * out after jtool has reported a failure.  Returns 0, also if the deadline has passed or the JVM
 * has ended the connection, which answer_await() then reports; or -1 with `err` set.
 */
int answer_request(struct answer_reader *r, const struct buf *request, struct deadline d,
		   struct err *err) _must_check_;

/*
 * Waits until the answer begins or the connection ends, at most until the deadline `sent`.  If
 * r->is_long is true and the JVM has read the request by then, goes on waiting, with the time limit
 * of attach_execute_long() (attach.h).  Returns 0; or -1 with `err` set: EXIT_ATTACH if the JVM
 * does not answer in time.
 */
int answer_await(struct answer_reader *r, struct deadline sent, struct err *err) _must_check_;

/*
 * Reads the complete answer; or, if opts->cut is true, at most the status line and the first
 * opts->max bytes.  Returns 0; or -1 with `err` set: EXIT_ATTACH if a running JVM closes the
 * connection without an answer; EXIT_PARTIAL if the connection ends before the answer is complete,
 * if no more data arrives in time, or if the answer is too long.
 */
int answer_read(struct answer_reader *r, struct spool *answer, struct err *err) _must_check_;

/*
 * Returns true if the answer's status code means that the JVM refuses the protocol version of the
 * request.
 */
bool answer_is_bad_version(const struct spool *answer);

#endif
