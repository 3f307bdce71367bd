/*
 * Ask the JVM for an attach operation and show what it answers.
 */
#ifndef JTOOL_CMD_ANSWER_H
#define JTOOL_CMD_ANSWER_H

#include "cmd.h"
#include "model/vmflags.h"
#include "target/attachproto.h"

/*
 * Output goes to ctx->out byte for byte, or as {"pid","code","output"} with --json.  A code
 * other than 0 is an error (EXIT_ANSWER) with the JVM's own words; then output of one line
 * stands in the error alone, and a longer one on ctx->out as well.
 */
int answer_show(const struct ctx *ctx, const struct attach_request *req, struct err *err)
	_must_check_;

/* The document of an answer that was kept. */
void answer_print_json(const struct ctx *ctx, int code, const struct buf *text);

/*
 * The answer as text for a parser, appended to `text`.  Here, too, a code other than 0 is an
 * error; what does not fit `max` bytes is EXIT_PARTIAL.
 */
int answer_text(const struct ctx *ctx, const struct attach_request *req, size_t max,
		struct buf *text, struct err *err) _must_check_;

/*
 * The same of a diagnostic command with its words, "VM.flags -all".  They are one argument of
 * jcmd: as two, HotSpot would take the second for one of its own and drop it.
 */
int answer_jcmd(const struct ctx *ctx, const char *line, size_t max, struct buf *text,
		struct err *err) _must_check_;

/* The JVM's flags.  `flags` is empty before, and to be released in any case. */
int answer_flags(const struct ctx *ctx, struct vmflags *flags, struct err *err) _must_check_;

#endif
