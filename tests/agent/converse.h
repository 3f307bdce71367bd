/*
 * A client in the same process: whole sessions with the agent in the fake JVM.
 */
#ifndef JTOOL_TESTS_CONVERSE_H
#define JTOOL_TESTS_CONVERSE_H

#include "agent/fake_jvm.h"
#include "wire/cursor.h"
#include "wire/frame.h"

#define TOKEN "0123456789abcdef0123456789ABCDEF"

enum end { BYE, HANG_UP, HANG_UP_EARLY };

struct talk {
	/* What is said: the requests, before the end. */
	void (*ask)(int fd, const void *arg);
	const void *arg;
	enum end end;
	/* Each result frame; the whole payload must be read. */
	void (*take)(void *seen, uint16_t type, struct wire_reader *r);
	void *seen;

	/* What came of it. */
	jint refused;
	bool hello, gone;
	unsigned errors; /* ERROR frames */
	uint64_t left[3]; /* not given back, by the agent's own account */
};

/* Starts the fake JVM, too, which the caller stops; nothing of the agent is left in it. */
void converse(struct talk *talk);

/* Agent_OnAttach's work alone. */
jint converse_attach(const char *options);

/* A text as a C string; it must fit. */
void copy_text(char *out, size_t size, struct wire_text text);

#endif
