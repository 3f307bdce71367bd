/*
 * Waits for the answer to a request and reads the answer, within limits of time and size: a target
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
	/* The next members are used by answer.c only. */
	struct stall stall;
	struct progress line;
	int64_t begin_ns; /* when the wait began, by monotonic_ns(); 0: not yet */
};

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
