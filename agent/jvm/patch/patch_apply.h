/* Installs, refreshes and restores patches.  The caller must hold the `operation` lock. */
#ifndef JTOOL_AGENT_JVM_PATCH_PATCH_APPLY_H
#define JTOOL_AGENT_JVM_PATCH_PATCH_APPLY_H

#include "jvm/patch/patch_table.h"
#include "jvm/patch/patches.h"

/*
 * Prepares the outputs of these n patches and installs them.  Adds new patches to the table, where
 * they replace earlier patches of the same class.  Returns 0; if patched->code is then not 0, the
 * JVM has refused and nothing has changed.  Returns -1 with the error recorded, or if the JVM is
 * shutting down.
 */
int ag_patch_install(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, bool refreshes, struct ag_patched *patched);

/*
 * Restores the classes of these n patches.  If *code is then 0, the patches are removed and freed.
 */
int ag_patch_restore(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, jvmtiError *code);

/* Removes and frees the patches of unloaded classes. */
void ag_patch_purge(struct ag_jvm *jvm, struct ag_patches *p);

#endif
