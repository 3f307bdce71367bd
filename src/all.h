/*
 * TARGET "all": a command on every JVM.
 */
#ifndef JTOOL_ALL_H
#define JTOOL_ALL_H

#include "cmd.h"

/*
 * Run ctx->cmd on each JVM there is, several at a time.  Each is looked into by a child process,
 * so that one that does not answer holds up nobody; what a child prints is shown when it is
 * whole, in the order of process ids, under a heading "PID:" as the JDK's jcmd has it.  With
 * --json there is no heading: the document itself names the JVM.
 */
int all_run(struct ctx *ctx, struct err *err);

/* What became of the JVMs: for commands that have a run_all() of their own. */
struct all_tally {
	const struct cmd *cmd;
	size_t n, failed;
	enum exit_code first; /* of those that failed */
};

/* One gave no result: tell it at once. */
void all_failed(struct all_tally *tally, const struct jvm *jvm, const struct err *one);
/* 0 when none failed, else -1 with err set: EXIT_PARTIAL, or the first one's code if all did. */
int all_verdict(const struct all_tally *tally, struct err *err);

#endif
