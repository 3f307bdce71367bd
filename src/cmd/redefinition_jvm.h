/*
 * Asks a JVM for the properties that decide how it takes changed classes.  Commands that change
 * classes ask before the first change.
 */
#ifndef JTOOL_CMD_REDEFINITION_JVM_H
#define JTOOL_CMD_REDEFINITION_JVM_H

#include "cli/command.h"
#include "model/redefine/redefinition.h"

/*
 * Sets *jvm from the JVM's release and flags; pool_count is 0.  Returns 0.  Returns -1 with err set
 * if the flags cannot be requested, or if they make the JVM write an archive of its classes
 * (cds_archive.h).
 */
int redefinition_jvm_ask(const struct ctx *ctx, struct redefinition_jvm *jvm,
			 struct err *err) _must_check_;

#endif
