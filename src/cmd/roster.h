/*
 * A session with the list of loaded classes in hand: what the commands about classes begin with.
 */
#ifndef JTOOL_CMD_ROSTER_H
#define JTOOL_CMD_ROSTER_H

#include "cmd.h"
#include "model/captured.h"
#include "model/classes.h"
#include "session/session.h"

struct roster {
	struct session *session;
	struct classes classes;
	uint64_t capture_ns; /* what the last roster_capture() took the agent */
};

/* Open the session and ask for the classes; flags are WIRE_CLASSES_*. */
int roster_open(const struct ctx *ctx, uint32_t flags, struct roster *r, struct err *err)
	_must_check_;
/* Close both; -1 when the agent could not undo everything. */
int roster_close(struct roster *r, struct err *err);

/*
 * Leave only those classes that the words and the loader mean (classes_select).  A word that
 * means no class is an error: EXIT_ANSWER, with the nearest name there is.
 */
int roster_select(const struct ctx *ctx, struct roster *r, char *const *words, size_t n_words,
		  const char *loader, struct err *err) _must_check_;

/*
 * One captured class with its row, whatever the outcome but WIRE_CAPTURED_REAL; nothing of the
 * former may be kept.  0, or -1 to end early.
 */
typedef int roster_take_fn(const struct class_row *row, struct captured *captured, void *arg,
			   struct err *err);

/*
 * Capture these classes, in this order, and hand each to take().  It may be slow: the agent is
 * at rest meanwhile.  flags are WIRE_CAPTURE_*.  A class that the JVM really retransformed is an
 * error, EXIT_AGENT.
 */
int roster_capture(struct roster *r, const struct class_row *rows, size_t n, uint32_t flags,
		   roster_take_fn *take, void *arg, struct err *err) _must_check_;

/* Why there is no class file; NULL when there is one.  text: for what is not constant. */
const char *roster_why_no_file(const struct class_row *row, const struct captured *captured,
			       struct buf *text);

#endif
