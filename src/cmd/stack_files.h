/* The options --collapsed, --flamegraph and --pprof FILE, for all commands that have stacks. */
#ifndef JTOOL_CMD_STACK_FILES_H
#define JTOOL_CMD_STACK_FILES_H

#include "fileio/atomic_file.h"
#include "cli/command.h"
#include "model/profile/call_tree.h"
#include "render/profile/pprof.h"

enum stackfile { STACKFILE_COLLAPSED, STACKFILE_FLAMEGRAPH, STACKFILE_PPROF, STACKFILE_KINDS };

/* The output files of the three options.  Zero-initialise the struct. */
struct stack_files {
	struct atomic_file files[STACKFILE_KINDS];
	bool open[STACKFILE_KINDS];
	/*
	 * an earlier tree: the flame graph shows the difference to that tree; NULL: the flame graph
	 * shows no difference
	 */
	const struct call_tree *before;
	/*
	 * The content of the pprof file.  If pprof.trees is empty, the file has the tree that is
	 * passed to stack_files_write().
	 */
	struct pprof_profile pprof;
	bool no_lines; /* write collapsed stacks with method names, without line numbers */
};

/*
 * Returns -1 with err set (EXIT_USAGE) if more than one output would go to stdout.  The outputs are
 * the files and, with `json`, the command's result.
 */
int stack_files_check(const char *const paths[static STACKFILE_KINDS], bool json, struct err *err)
	_must_check_;
/* Returns whether one of the files is stdout. */
bool stack_files_take_stdout(const char *const paths[static STACKFILE_KINDS]);
/*
 * Opens the files whose path is not NULL, before the JVM does any work for them.  The paths must
 * outlive `f`.  Returns 0, or -1 with err set; release `f` in either case.
 */
int stack_files_open(struct stack_files *f, const char *const paths[static STACKFILE_KINDS],
		     bool force, struct err *err) _must_check_;
/* Returns whether any file is open. */
bool stack_files_any(const struct stack_files *f);

/*
 * Computes the totals of the tree `t`, writes it to all files that are open, and prints a notice
 * for each file.  Collapsed stacks have only the first value of each node; the pprof file has both
 * values.  `title` and `subtitle` are for the flame graph.
 */
int stack_files_write(struct stack_files *f, const struct ctx *ctx, struct call_tree *t,
		      const char *title, const char *subtitle, struct err *err) _must_check_;

/* Closes the files.  A file that was not written does not appear at its path. */
void stack_files_release(struct stack_files *f);

#endif
