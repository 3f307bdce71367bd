/* Prints one bytecode instruction in the format of `javap -c`. */
#ifndef JTOOL_RENDER_CLASS_JAVAP_INSN_H
#define JTOOL_RENDER_CLASS_JAVAP_INSN_H

#include "classfile/code.h"
#include "render/class/javap_line.h"

/*
 * Prints the instruction in one line, or in several if it is a switch.  `class` is as in
 * javap_constant().
 */
void javap_insn(struct javap_lines *l, const struct cf_insn *insn, const struct cf_pool *pool,
		struct cf_text class);
/* Appends the instruction as one line without offset and padding. */
void javap_insn_text(struct buf *out, const struct cf_insn *insn, const struct cf_pool *pool,
		     struct cf_text class);

#endif
