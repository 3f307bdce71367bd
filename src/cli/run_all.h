/* TARGET "all": runs a command on every JVM. */
#ifndef JTOOL_CLI_RUN_ALL_H
#define JTOOL_CLI_RUN_ALL_H

#include "cli/command.h"

/*
 * Runs ctx->cmd on each visible JVM, several at a time, in a child process per JVM, so that a JVM
 * that does not answer does not delay the others.  A child that makes no progress for longer than
 * the timeout is killed, and its JVM counts as failed (EXIT_ATTACH).  Prints complete outputs in
 * the order of process ids, each under a heading "PID:" as the JDK's jcmd does, or without a
 * heading with --json.  Returns 0, or -1 with err set.
 */
int run_on_all(struct ctx *ctx, struct err *err);

/* Counts JVMs and failures, for run_on_all() and for commands that have their own cmd->run_all. */
struct run_all_tally {
	const struct cmd *cmd;
	size_t n, failed;
	size_t verdicts;      /* JVMs that gave a complete result, which is "no" (err.is_verdict) */
	enum exit_code first; /* exit code of the first failure */
};

/* Counts the failure of a JVM, or its verdict if cause->is_verdict.  Prints `cause` at once. */
void run_all_failed(struct run_all_tally *tally, const struct jvm *jvm, const struct err *cause);
/*
 * Returns 0 if no JVM has failed and there is no verdict.  Otherwise returns -1 with err set.  The
 * code is tally->first if all JVMs have failed, EXIT_PARTIAL if some have, else EXIT_ANSWER.
 */
int run_all_verdict(const struct run_all_tally *tally, struct err *err);

#endif
