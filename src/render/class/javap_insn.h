/* Prints one bytecode instruction in the format of `javap -c`. */
#ifndef JTOOL_RENDER_CLASS_JAVAP_INSN_H
#define JTOOL_RENDER_CLASS_JAVAP_INSN_H

#include "classfile/code.h"
#include "render/class/javap_line.h"

/*
 * Prints the instruction: a switch in several lines, another instruction in one line.  `class` is
 * as in javap_constant().
 */
void javap_insn(struct javap_lines *l, const struct cf_insn *insn, const struct cf_pool *pool,
		struct cf_text class);
/* Appends the instruction in one line, without its offset and without padding. */
void javap_insn_text(struct buf *out, const struct cf_insn *insn, const struct cf_pool *pool,
		     struct cf_text class);

#endif
