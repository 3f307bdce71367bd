/* TARGET "all": runs a command on every JVM. */
#ifndef JTOOL_CLI_RUN_ALL_H
#define JTOOL_CLI_RUN_ALL_H

#include "cli/command.h"

/*
 * Runs ctx->cmd on each visible JVM, several at a time, in a child process per JVM, so that a JVM
 * that does not answer delays no other.  A child without progress for longer than the timeout is
 * killed, which counts as a failure of that JVM (EXIT_ATTACH).  Prints complete outputs in the
 * order of process ids, each under a heading "PID:" as the JDK's jcmd does, or without a heading
 * with --json.
 */
int run_on_all(struct ctx *ctx, struct err *err);

/* Counts the failures of a command that has its own run_all(). */
struct run_all_tally {
	const struct cmd *cmd;
	size_t n, failed;
	enum exit_code first; /* code of the first failure */
};

/* Counts a failure and prints it at once. */
void run_all_failed(struct run_all_tally *tally, const struct jvm *jvm, const struct err *cause);
/* Returns 0 if no JVM failed, else -1 with err set: EXIT_PARTIAL, or `first` if all failed. */
int run_all_verdict(const struct run_all_tally *tally, struct err *err);

#endif
