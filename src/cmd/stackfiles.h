/*
 * --collapsed FILE and --flamegraph FILE, of all commands that have stacks.
 */
#ifndef JTOOL_CMD_STACKFILES_H
#define JTOOL_CMD_STACKFILES_H

#include "base/outfile.h"
#include "cmd.h"
#include "model/stacktree.h"

enum stackfile { STACKFILE_COLLAPSED, STACKFILE_FLAMEGRAPH, STACKFILE_KINDS };

/* Zeroed at first. */
struct stackfiles {
	struct outfile files[STACKFILE_KINDS];
	bool open[STACKFILE_KINDS];
};

/*
 * Begin them, before a JVM is asked for anything: what is wrong with a path must not cost it
 * anything.  A path may be NULL: that file is not wanted.  The paths must stay.  -1 with err set;
 * it is to be released all the same.
 */
int stackfiles_open(struct stackfiles *f, const char *collapsed, const char *flamegraph, bool force,
		    struct err *err) _must_check_;

/*
 * Sum the tree, write what is wanted of it, and say so.  Collapsed stacks have its first value.
 * Title and subtitle are the page's.
 */
int stackfiles_write(struct stackfiles *f, const struct ctx *ctx, struct stacktree *t,
		     const char *title, const char *subtitle, struct err *err) _must_check_;

/* What was not written does not appear. */
void stackfiles_release(struct stackfiles *f);

#endif
