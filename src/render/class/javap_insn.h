/*
 * One instruction as `javap -c` prints it.
 */
#ifndef JTOOL_RENDER_JAVAP_INSN_H
#define JTOOL_RENDER_JAVAP_INSN_H

#include "classfile/code.h"
#include "render/javap_line.h"

/*
 * "       1: invokespecial #1       // Method …"; a switch takes a line for each case.  `class` as
 * of javap_constant().
 */
void javap_insn(struct javap_lines *l, const struct cf_insn *insn, const struct cf_pool *pool,
		struct cf_text class);
/* The same on one line, without the offset and wide spaces. */
void javap_insn_text(struct buf *out, const struct cf_insn *insn, const struct cf_pool *pool,
		     struct cf_text class);

#endif
