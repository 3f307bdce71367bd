/*
 * A document that a child process writes.  The server itself does not parse data of targets.  If a
 * child crashes, hangs, or needs too much memory, only one document is lost.  Memory that the child
 * leaks is freed when the child ends.
 */
#ifndef JTOOL_HTTP_DOCUMENT_H
#define JTOOL_HTTP_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/deadline.h"
#include "base/err.h"

#define DOCUMENT_MAX (64 << 20) /* maximum size of a document in bytes */

/* A complete document.  document_unref() of the last reference frees it. */
struct document {
	int fd; /* a file in memory */
	int64_t len;
	int64_t begun_ns; /* monotonic_ns() at the start of the child */
	unsigned refs;
};

struct document *document_ref(struct document *doc);
void document_unref(struct document *doc); /* NULL is permitted */

/* Writes the document, in the child.  Returns 0, or -1 with err set. */
typedef int document_write(void *arg, FILE *out, struct err *err);

/* The child that writes a document. */
struct document_job {
	pid_t pid;  /* 0: none is running */
	int sock;   /* readable when the child has finished; -1: no child, or it was given up */
	int fd;
	int64_t begun_ns;
	struct deadline deadline;
};
#define DOCUMENT_JOB_INIT { 0, -1, -1, 0, DEADLINE_NEVER }

/*
 * Reaps the orphans of earlier children: the processes that these had started, and that did not end
 * before them; and the child itself, if it was given up and has ended.  Returns true if one of them
 * is left, which is blocked in the kernel or still ending.  Call it only when no child is running,
 * in a process that is a subreaper or pid 1.
 */
bool document_reap_orphans(struct document_job *job);

/*
 * Starts a child.  Returns 0, or -1 with err set.  Fails as long as an earlier child, which was
 * given up, is blocked in the kernel.
 */
int document_begin(struct document_job *job, document_write *write, void *arg, unsigned timeout_ms,
		   struct err *err) _must_check_;

/*
 * Call this when job->sock is readable or job->deadline has passed.  After the deadline, the child
 * is given up: it is killed, but not waited for.  Returns the document, or NULL with err set.
 */
struct document *document_end(struct document_job *job, struct err *err) _must_check_;

/* Ends the child, if there is one, and discards its document. */
void document_cancel(struct document_job *job);

#endif
