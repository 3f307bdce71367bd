/* A request for the JVM's own heap dump.  Only vm_dump_file.c and vm_dump_stream.c use it. */
#ifndef JTOOL_CMD_HEAP_VM_DUMP_REQUEST_H
#define JTOOL_CMD_HEAP_VM_DUMP_REQUEST_H

#include <pthread.h>

#include "cmd/heap/vm_dump_file.h"
#include "model/hprof/hprof_check.h"
#include "session/staging/staged_file.h"
#include "attach/attach.h"

struct vm_dump_request {
	const struct ctx *ctx;
	struct hprof_features features;
	bool by_fifo;
	struct staged_file *staged; /* the FIFO or file to which the JVM writes; NULL: removed */
	struct buf line;            /* the diagnostic command line */
	const char *args[1];        /* the argument of `attach`: the text of `line` */
	/*
	 * progress.bytes() returns how many bytes of the dump the JVM has written.  The thread that
	 * waits for the JVM's answer calls it to see whether the JVM still works on a dump that
	 * takes longer than ATTACH_LONG_MS (attach/attach.h).
	 */
	struct attach_progress progress;
	_Atomic uint64_t received; /* bytes that jtool has received through the FIFO */
	/*
	 * If jtool copies the dump from the FIFO to a file: the descriptor of this file, whose size
	 * `progress` also counts.  Otherwise -1.
	 */
	int out_fd;
	pthread_mutex_t lock;      /* protects `staged` */
	struct attach_opts opts;
	struct attach_request attach; /* its pointers point into this struct */
};

/*
 * Finds out which options the JVM's command GC.heap_dump has, and stages the FIFO or file to which
 * the JVM will write.  Returns 0, or -1 with err set.  Call vm_dump_request_end() after either
 * result.
 */
int vm_dump_request_begin(struct vm_dump_request *rq, const struct ctx *ctx,
		       const struct dump_wanted *wanted, struct err *err) _must_check_;
/*
 * vm_dump_request_end() releases the request, and removes the staged FIFO or file.
 * vm_dump_request_unstage() removes the FIFO or file earlier.
 */
void vm_dump_request_unstage(struct vm_dump_request *rq);
void vm_dump_request_end(struct vm_dump_request *rq);

/*
 * Parses the JVM's reply.  Returns 0; or -1 with err set: EXIT_ANSWER if the JVM has refused the
 * request, EXIT_PARTIAL if the dump is incomplete.
 */
int dump_parse_reply(const struct vm_dump_request *rq, const struct attach_reply *reply,
		    struct hprof_answer *answer, struct err *err) _must_check_;

#endif
