/* Runs an attach operation in the JVM, and shows or returns its answer. */
#ifndef JTOOL_CMD_ATTACH_CALL_H
#define JTOOL_CMD_ATTACH_CALL_H

#include "cli/command.h"
#include "model/vm/vmflags.h"
#include "attach/protocol.h"

/*
 * Runs the operation, and writes the answer to ctx->out: with --json as {"pid","code","output"},
 * else as attach_call_print_text() does.  A code other than 0 is an error (EXIT_ANSWER) that quotes
 * the answer's first line.  Without --json, an answer of one line is then not printed to ctx->out,
 * too.
 */
int attach_call_show(const struct ctx *ctx, const struct attach_request *req,
		     struct err *err) _must_check_;

/*
 * Sets err (EXIT_ANSWER) for an answer whose code is not 0.  Quotes the answer's first line: if it
 * has only this line, it need not be printed as well.  Returns -1.
 */
int attach_call_refused(const char *what, int code, const struct buf *answer, struct err *err);
bool attach_call_is_one_line(const struct buf *answer);

/* Prints the JVM's answer unchanged; on a terminal, with control characters escaped. */
void attach_call_print_text(const struct ctx *ctx, const char *text, size_t len);

/* Prints the JSON document {"pid","code","output"} for an answer that was read into `text`. */
void attach_call_print_json(const struct ctx *ctx, int code, const struct buf *text);

/*
 * Runs the operation, and appends the answer to `text`.  Returns -1 with err set also for a code
 * other than 0 (EXIT_ANSWER), and for an answer of more than `max` bytes (EXIT_PARTIAL).
 */
int attach_call_text(const struct ctx *ctx, const struct attach_request *req, size_t max,
		     struct buf *text, struct err *err) _must_check_;

/*
 * Like attach_call_text(), for a diagnostic command with its arguments, such as "VM.flags -all".
 * The complete `line` is one argument of the attach operation jcmd, because HotSpot ignores a
 * second argument.
 */
int attach_call_jcmd(const struct ctx *ctx, const char *line, size_t max, struct buf *text,
		     struct err *err) _must_check_;

/* Reads the JVM's flags into `flags`, which must be empty.  Release `flags` also after an error. */
int attach_call_flags(const struct ctx *ctx, struct vmflags *flags, struct err *err) _must_check_;

#endif
