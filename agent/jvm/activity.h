/*
 * The requests that the sessions of this library are serving.  A session announces the request that
 * it serves, so that another session can list the request, and can ask for its end.
 *
 * TRACE and ALLOC leave hooks in the JVM until the client ends the request, and check
 * ag_activity_must_end() meanwhile.  Other requests end by themselves.
 *
 * Any thread may call these functions; the functions never wait.
 */
#ifndef JTOOL_AGENT_JVM_ACTIVITY_H
#define JTOOL_AGENT_JVM_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

struct ag_activity;

/*
 * Adds a request of this type (wire/frames.def) to the table of activities.  Returns the activity;
 * or NULL if the table is full, and then no session can list the request.
 */
struct ag_activity *ag_activity_begin(uint16_t request);

/*
 * Removes an activity from the table, and sets *a to NULL.  Call it after the request has removed
 * its hooks from the JVM.  *a may be NULL.
 */
void ag_activity_end(struct ag_activity **a);

/* Returns true if another session has called ag_activity_ask() for `a`, which may be NULL. */
bool ag_activity_must_end(const struct ag_activity *a);

struct ag_activity_row {
	uint64_t id; /* unique in this library */
	uint16_t request;
	uint64_t ns; /* time since the request began */
};

/*
 * Reads the next activity, beginning at position *next of the table, and advances *next.  Start
 * with *next = 0.  Returns false if no further activity is in the table.
 */
bool ag_activity_next(uint32_t *next, struct ag_activity_row *row);

/* Asks the activity with this id to end.  Does nothing if that activity has ended already. */
void ag_activity_ask(uint64_t id);

#endif
