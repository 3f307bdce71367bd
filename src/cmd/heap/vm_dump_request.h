/* A request for the JVM's own heap dump.  Private to vm_dump_file.c and vm_dump_stream.c. */
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
	struct staged_file *staged; /* a FIFO or a file to which the JVM writes */
	struct buf line;            /* the diagnostic command */
	const char *args[1];        /* the argument in `attach`: the text of `line` */
	/*
	 * Reports the bytes that the JVM has written, as a sign that it works on the dump, which
	 * may take longer than ATTACH_LONG_MS (attach/attach.h).  Called on the thread that waits
	 * for the answer.
	 */
	struct attach_progress progress;
	_Atomic uint64_t received; /* bytes that jtool has received through the FIFO */
	/*
	 * descriptor of the caller's file, if the dump is copied from the FIFO to that file: then
	 * `progress` also counts the size of that file; -1: the dump is not copied in this way
	 */
	int out_fd;
	pthread_mutex_t lock;      /* protects `staged` */
	struct attach_opts opts;
	struct attach_request attach; /* the operation; its pointers point into this struct */
};

/*
 * Finds what the JVM's GC.heap_dump supports, and stages the FIFO or file that the JVM will write
 * to.  Call vm_dump_request_end() also after an error.
 */
int vm_dump_request_begin(struct vm_dump_request *rq, const struct ctx *ctx,
		       const struct dump_wanted *wanted, struct err *err) _must_check_;
/* Removes the staged FIFO or file before vm_dump_request_end() does. */
void vm_dump_request_unstage(struct vm_dump_request *rq);
void vm_dump_request_end(struct vm_dump_request *rq);

/*
 * Parses the JVM's reply.  Returns 0, or -1 with err set: EXIT_ANSWER if the JVM has refused,
 * EXIT_PARTIAL if the dump is incomplete.
 */
int dump_parse_reply(const struct vm_dump_request *rq, const struct attach_reply *reply,
		    struct hprof_answer *answer, struct err *err) _must_check_;

#endif
