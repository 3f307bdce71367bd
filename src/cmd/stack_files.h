/* The options --collapsed, --flamegraph and --pprof FILE, for all commands that have stacks. */
#ifndef JTOOL_CMD_STACK_FILES_H
#define JTOOL_CMD_STACK_FILES_H

#include "fileio/atomic_file.h"
#include "cli/command.h"
#include "model/profile/call_tree.h"
#include "render/profile/pprof.h"

enum stackfile { STACKFILE_COLLAPSED, STACKFILE_FLAMEGRAPH, STACKFILE_PPROF, STACKFILE_KINDS };

/* The output files of the three options.  The caller must initialise the struct with zeros. */
struct stack_files {
	struct atomic_file files[STACKFILE_KINDS];
	bool open[STACKFILE_KINDS];
	/*
	 * an earlier tree, with which the flame graph compares the tree that the caller passes to
	 * stack_files_write(); NULL: none
	 */
	const struct call_tree *before;
	/*
	 * the content of the pprof file; if pprof.trees is empty, the content is the tree that the
	 * caller passes to stack_files_write()
	 */
	struct pprof_profile pprof;
	bool no_lines; /* in collapsed stacks, the frames have no line numbers */
};

/*
 * Returns -1 with err set (EXIT_USAGE) if two of the paths mean stdout; or if one does and `json`
 * is true, because the command then prints a JSON document to stdout.
 */
int stack_files_check(const char *const paths[static STACKFILE_KINDS], bool json, struct err *err)
	_must_check_;
/* Returns true if one of the paths means stdout. */
bool stack_files_take_stdout(const char *const paths[static STACKFILE_KINDS]);
/*
 * Opens the files whose path is not NULL.  Call it before the JVM does any work, so that an invalid
 * path is an error at once.  The paths must outlive `f`.  Returns 0, or -1 with err set; release
 * `f` after either result.
 */
int stack_files_open(struct stack_files *f, const char *const paths[static STACKFILE_KINDS],
		     bool force, struct err *err) _must_check_;
/* Returns whether any file is open. */
bool stack_files_any(const struct stack_files *f);

/*
 * Computes the totals of the tree `t`, writes the tree to all open files, and prints a notice for
 * each file.  Each node of the tree has two values; collapsed stacks contain only the first of
 * them.  `title` and `subtitle` are for the flame graph.  Returns 0, or -1 with err set.
 */
int stack_files_write(struct stack_files *f, const struct ctx *ctx, struct call_tree *t,
		      const char *title, const char *subtitle, struct err *err) _must_check_;

/* Closes the files.  If a file was not written, nothing is created or replaced at its path. */
void stack_files_release(struct stack_files *f);

#endif
