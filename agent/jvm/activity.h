/*
 * The requests that the sessions of this library are serving.  A session announces the request that
 * it serves, so that another session can list the request and ask it to end.
 *
 * A request that leaves hooks in the JVM until its client ends it (TRACE, ALLOC) checks
 * ag_activity_must_end() while it waits.  Other requests end by themselves.
 *
 * Any thread may call these functions; they never wait.
 */
#ifndef JTOOL_AGENT_JVM_ACTIVITY_H
#define JTOOL_AGENT_JVM_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

struct ag_activity;

/*
 * Announces a request (WIRE_…).  Returns NULL if the table is full; the request is then not listed.
 */
struct ag_activity *ag_activity_begin(uint16_t request);

/* Call it when nothing of the request is left in the JVM.  *a may be NULL, and becomes NULL. */
void ag_activity_end(struct ag_activity **a);

/* Returns true if another session has asked this activity to end.  `a` may be NULL. */
bool ag_activity_must_end(const struct ag_activity *a);

struct ag_activity_row {
	uint64_t id; /* unique in this library */
	uint16_t request;
	uint64_t ns; /* since the request began */
};

/*
 * Reads the activity at position *next, and advances *next.  Start with *next = 0.  Returns false
 * at the end of the table.
 */
bool ag_activity_next(uint32_t *next, struct ag_activity_row *row);

/* Asks an activity to end.  Has no effect if it has ended already. */
void ag_activity_ask(uint64_t id);

#endif
