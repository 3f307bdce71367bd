/* Texts for notices: how much a change of the code of loaded classes slows a JVM down. */
#ifndef JTOOL_CMD_COST_NOTE_H
#define JTOOL_CMD_COST_NOTE_H

#include "base/buf.h"
#include "cli/command.h"
#include "model/redefine/redefinition.h"
#include "session/session.h"

/*
 * Returns whether a notice must explain the cost of changing classes: true with --verbose, or if
 * jtool has not changed a class in this JVM before.
 */
bool cost_note_is_due(const struct ctx *ctx, const struct session *s);

/*
 * Appends to `out` a text about the costs of changing `n` of the JVM's `n_loaded` classes together.
 * The text continues a notice that the caller has begun in `out`.  `undone` names the command or
 * event that reverts the change, such as "restore".
 */
void cost_note_add(struct buf *out, const struct redefinition_jvm *jvm, size_t n, size_t n_loaded,
		   const char *undone);
/*
 * Like cost_note_add(), but appends only the costs that do not depend on the number of classes: for
 * example, a running method continues more slowly in its old code.
 */
void cost_note_add_lasting(struct buf *out, const struct redefinition_jvm *jvm, const char *undone);

#endif
