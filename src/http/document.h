/*
 * A document that a child process writes.  The server does not parse what targets send: a child
 * that crashes, hangs, or needs too much memory costs one document, and what it leaks ends with it.
 */
#ifndef JTOOL_HTTP_DOCUMENT_H
#define JTOOL_HTTP_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/deadline.h"
#include "base/err.h"

#define DOCUMENT_MAX (64 << 20) /* bytes */

/* Counts its references; the last one closes it. */
struct document {
	int fd; /* in memory */
	int64_t len;
	int64_t begun_ns; /* monotonic_ns() when its child was started */
	unsigned refs;
};

struct document *document_ref(struct document *doc);
void document_unref(struct document *doc); /* NULL is permitted */

/* Writes the document, in the child.  Returns 0, or -1 with err set. */
typedef int document_write(void *arg, FILE *out, struct err *err);

/* The child that writes. */
struct document_job {
	pid_t pid;  /* 0: none is running */
	int sock;   /* readable when it has finished; -1: none is running, or it was given up */
	int fd;
	int64_t begun_ns;
	struct deadline deadline;
};
#define DOCUMENT_JOB_INIT { 0, -1, -1, 0, DEADLINE_NEVER }

/*
 * Starts the child.  Returns 0, or -1 with err set; a child that was given up and is still blocked
 * is an error.
 */
int document_begin(struct document_job *job, document_write *write, void *arg, unsigned timeout_ms,
		   struct err *err) _must_check_;

/*
 * Call this when job->sock is readable, or after its deadline, which gives up the child.  Returns
 * the document, or NULL with err set.
 */
struct document *document_end(struct document_job *job, struct err *err) _must_check_;

/* Ends the child, if there is one, without its document. */
void document_cancel(struct document_job *job);

#endif
