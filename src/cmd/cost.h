/*
 * What it costs a JVM to have the code of loaded classes changed, in words.
 */
#ifndef JTOOL_CMD_COST_H
#define JTOOL_CMD_COST_H

#include "base/buf.h"
#include "model/redefinition.h"

/*
 * Add it, behind a colon: n of its n_loaded classes are changed in one go.  `undone` is what puts
 * them back: "restore".
 */
void cost_add(struct buf *out, const struct redefinition_jvm *jvm, size_t n, size_t n_loaded,
	      const char *undone);
/* Only what does not depend on how many they are. */
void cost_add_lasting(struct buf *out, const struct redefinition_jvm *jvm, const char *undone);

#endif
