/*
 * Asking the JVM for a dump of its heap: what it can do, where it writes, what it answers.
 * Private to hprof*.c.
 */
#ifndef JTOOL_CMD_HPROF_REQUEST_H
#define JTOOL_CMD_HPROF_REQUEST_H

#include "cmd/hprof.h"
#include "model/hprof_check.h"
#include "session/place.h"
#include "target/attach.h"

struct hprof_request {
	const struct ctx *ctx;
	struct hprof_ways ways;
	struct place *place; /* a FIFO with ways.overwrite, else for a file of the JVM's making */
	struct buf line;
	const char *args[1];
	struct attach_opts opts;
	struct attach_request attach; /* to be executed; points into this */
};

/*
 * Ask what the JVM can do, and place what it is to write to.  -1 with err set.  To be ended in
 * any case.
 */
int hprof_request_begin(struct hprof_request *rq, const struct ctx *ctx,
			const struct hprof_wanted *wanted, struct err *err) _must_check_;
/* Take the place away before the end. */
void hprof_request_leave(struct hprof_request *rq);
void hprof_request_end(struct hprof_request *rq);

/* -1 with err set: EXIT_ANSWER when the JVM refused, EXIT_PARTIAL when it wrote but a part. */
int hprof_understand(const struct hprof_request *rq, const struct attach_reply *reply,
		     struct hprof_answer *answer, struct err *err) _must_check_;

#endif
