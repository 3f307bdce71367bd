/*
 * Files below a directory of the caller's whose names come from somebody else: nothing is ever
 * written outside of it, whatever they are and whatever lies in it.
 *
 * Names are made of components by outdir_add(), which leaves nothing in them that leads
 * elsewhere.  On the way to a file each folder is opened by itself, or made, and no link is
 * followed: one that somebody put there is refused, and never replaced.  Files appear whole, as
 * base/outfile.h has it.
 */
#ifndef JTOOL_BASE_OUTDIR_H
#define JTOOL_BASE_OUTDIR_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/outguard.h"

struct outdir {
	const char *path; /* as the caller wrote it */
	int fd;
	struct outguard guard; /* of the file that is being written */
	bool made; /* by us; nothing was written to it yet */
};

/*
 * Open the directory, or make it where its parent is.  The caller's own links are followed.  -1
 * with err set: EXIT_USAGE when it is no directory, else EXIT_PARTIAL.  The path must stay.
 */
int outdir_open(struct outdir *d, const char *path, struct err *err) _must_check_;
/* Close it, and remove it again when it was made for nothing. */
void outdir_close(struct outdir *d);

/*
 * Add a component to a name: the text with the suffix, behind a '/' unless the name is empty.
 * What is no good in a file's name (a '/', control characters, a dot in front, broken UTF-8, …)
 * becomes %XX.  One that is too long for a file's name is cut, and ends in "%-" and a hash of
 * the whole.  Different texts have different components.
 */
void outdir_add(struct buf *name, const char *text, size_t len, const char *suffix);

/* Where that is, for the caller: "DIR/NAME", or "NAME" when DIR is ".".  To be freed. */
char *outdir_path(const struct outdir *d, const char *name);

/*
 * Write a file, or replace it.  0; 1 when only this name cannot be had, and *why not: something
 * else is in its way, it is too deep; -1 with err set when there is no more to be written.
 */
int outdir_write(struct outdir *d, const char *name, const void *data, size_t len,
		 const char **why, struct err *err) _must_check_;

/* Are "A" and "a" one file there?  False when it cannot be told. */
bool outdir_folds_case(const struct outdir *d);

#endif
