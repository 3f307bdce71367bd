/*
 * A client in the same process: complete sessions with the agent in the fake JVM.
 */
#ifndef JTOOL_TESTS_CONVERSE_H
#define JTOOL_TESTS_CONVERSE_H

#include "agent/fake/heap_world.h"
#include "wire/cursor.h"
#include "wire/frame.h"

#define TOKEN "0123456789abcdef0123456789ABCDEF"

/*
 * How the client ends the session: BYE, or closing the socket after or before the requests.  After
 * HALF_CLOSE the agent can still send, so it notices the end only when it checks the channel.
 */
enum end { BYE, HALF_CLOSE, HANG_UP, HANG_UP_EARLY };

struct talk {
	/* Sends the requests. */
	void (*ask)(int fd, const void *arg);
	const void *arg;
	enum end end;
	/* Reads each result frame to its end. */
	void (*take)(void *seen, uint16_t type, struct wire_reader *r);
	void *seen;

	/* Results */
	jint refused; /* what Agent_OnAttach returns; 0: the session began */
	bool hello, gone;
	unsigned errors; /* ERROR frames received */
	/* What the agent reports in GONE as not released: bytes, blocks, global references. */
	uint64_t left[3];
	uint64_t leaked; /* set by the test: the global references that it leaks on purpose */
};

/*
 * Starts the fake JVM and runs one session.  The test fails if the session leaves anything in the
 * JVM.  The caller stops the JVM with heap_world_stop().
 */
void converse(struct talk *talk);

/* Does only the work of Agent_OnAttach, and returns its result. */
jint converse_attach(const char *options);

/* Copies `text` to `out` as a C string.  Fails the test if `size` bytes are too few. */
void copy_text(char *out, size_t size, struct wire_text text);

#endif
