/* Runs an attach operation in the JVM (ctx->jvm), and shows or returns its answer. */
#ifndef JTOOL_CMD_ATTACH_CALL_H
#define JTOOL_CMD_ATTACH_CALL_H

#include "cli/command.h"
#include "model/vm/vmflags.h"
#include "attach/protocol.h"

/*
 * Runs the attach operation `req`, and writes the JVM's answer to ctx->out: with --json as
 * {"pid","code","output"}, otherwise as attach_call_print_text() does.  Returns 0, or -1 with err
 * set.  If the answer's code is not 0, the error (EXIT_ANSWER) quotes the answer's first line, so
 * without --json an answer of one line is not written to ctx->out.
 */
int attach_call_show(const struct ctx *ctx, const struct attach_request *req,
		     struct err *err) _must_check_;

/*
 * Sets err (EXIT_ANSWER) for an answer whose code is not 0.  The error names the operation `what`
 * and quotes the answer's first line.  So if the answer has only one line
 * (attach_call_is_one_line()), the caller need not print it.  Returns -1.
 */
int attach_call_refused(const char *what, int code, const struct buf *answer, struct err *err);
bool attach_call_is_one_line(const struct buf *answer);

/* Prints the JVM's answer unchanged; on a terminal, with control characters escaped. */
void attach_call_print_text(const struct ctx *ctx, const char *text, size_t len);

/* Prints the JSON document {"pid","code","output"} for an answer that was read into `text`. */
void attach_call_print_json(const struct ctx *ctx, int code, const struct buf *text);

/*
 * Runs the attach operation `req`, and appends the JVM's answer to `text`.  Returns 0, or -1 with
 * err set: EXIT_ANSWER if the answer's code is not 0, EXIT_PARTIAL if the answer has more than
 * `max` bytes, or an error of attach_execute() (attach/attach.h).
 */
int attach_call_text(const struct ctx *ctx, const struct attach_request *req, size_t max,
		     struct buf *text, struct err *err) _must_check_;

/*
 * Like attach_call_text(), but runs the diagnostic command `line`, such as "VM.flags -all".  The
 * complete `line` is one argument of the attach operation jcmd, because HotSpot ignores a second
 * argument.
 */
int attach_call_jcmd(const struct ctx *ctx, const char *line, size_t max, struct buf *text,
		     struct err *err) _must_check_;

/*
 * Reads the JVM's -XX flags into `flags`, which must be empty.  Returns 0, or -1 with err set.
 * Release `flags` also after an error.
 */
int attach_call_flags(const struct ctx *ctx, struct vmflags *flags, struct err *err) _must_check_;

/*
 * Returns the JVM's JDK release.  If discovery has not found it (jvm_feature() is 0), asks the JVM.
 * Returns 0 if the JVM does not answer.
 */
unsigned attach_call_release(const struct ctx *ctx);

#endif
