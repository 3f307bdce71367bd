/* Texts for notices: how much changing the code of loaded classes slows a JVM down. */
#ifndef JTOOL_CMD_COST_NOTE_H
#define JTOOL_CMD_COST_NOTE_H

#include "base/buf.h"
#include "cli/command.h"
#include "model/redefine/redefinition.h"
#include "session/session.h"

/*
 * Returns whether the cost must be explained: with --verbose, or before the first change in this
 * JVM.
 */
bool cost_note_is_due(const struct ctx *ctx, const struct session *s);

/*
 * Appends the complete explanation for changing n of the JVM's n_loaded classes at once, to a
 * sentence that ends in a colon.  `undone` names the command or event that reverts the change, such
 * as "restore".
 */
void cost_note_add(struct buf *out, const struct redefinition_jvm *jvm, size_t n, size_t n_loaded,
		   const char *undone);
/* Appends only the part of the explanation that does not depend on the number of classes. */
void cost_note_add_lasting(struct buf *out, const struct redefinition_jvm *jvm, const char *undone);

#endif
