/* The options --collapsed, --flamegraph and --pprof FILE, for all commands that have stacks. */
#ifndef JTOOL_CMD_STACK_FILES_H
#define JTOOL_CMD_STACK_FILES_H

#include "fileio/atomic_file.h"
#include "cli/command.h"
#include "model/profile/call_tree.h"

enum stackfile { STACKFILE_COLLAPSED, STACKFILE_FLAMEGRAPH, STACKFILE_PPROF, STACKFILE_KINDS };

/* The output files.  Zero-initialise it. */
struct stack_files {
	struct atomic_file files[STACKFILE_KINDS];
	bool open[STACKFILE_KINDS];
	const struct call_tree *before; /* summed; the flame graph shows the difference; or NULL */
	bool no_lines; /* collapsed stacks have methods without lines */
};

/* Fails (EXIT_USAGE) if more than one of the files and, with `json`, the result go to stdout. */
int stack_files_check(const char *const paths[static STACKFILE_KINDS], bool json, struct err *err)
	_must_check_;
/*
 * Opens the files whose path is not NULL, before the JVM does any work for them.  The paths must
 * outlive `f`.  Returns 0, or -1 with err set; release `f` in either case.
 */
int stack_files_open(struct stack_files *f, const char *const paths[static STACKFILE_KINDS],
		     bool force, struct err *err) _must_check_;
/* Returns whether any file is open. */
bool stack_files_any(const struct stack_files *f);

/*
 * Computes the totals of the tree, writes all files that are open, and prints a notice for each.
 * Collapsed stacks have the first value of each node, pprof has both.  Title and subtitle are for
 * the flame graph.
 */
int stack_files_write(struct stack_files *f, const struct ctx *ctx, struct call_tree *t,
		      const char *title, const char *subtitle, struct err *err) _must_check_;

/* Closes the files.  Those that were not written do not appear. */
void stack_files_release(struct stack_files *f);

#endif
