/* Installs, refreshes and restores patches.  The caller holds the `operation` lock. */
#ifndef JTOOL_AGENT_JVM_PATCH_PATCH_APPLY_H
#define JTOOL_AGENT_JVM_PATCH_PATCH_APPLY_H

#include "jvm/patch/patch_table.h"
#include "jvm/patch/patches.h"

/*
 * Prepares the outputs of these patches and installs them.  Adds new patches to the table, where
 * they replace earlier ones of the same class.  If patched->code is not 0 on return, nothing has
 * changed.  Returns -1 after an error, which is recorded, or if the JVM is shutting down.
 */
int ag_patch_install(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, bool refreshes, struct ag_patched *patched);

/* Restores the classes; if *code is 0, their patches are removed and freed. */
int ag_patch_restore(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, jvmtiError *code);

/* Removes and frees the patches of unloaded classes. */
void ag_patch_purge(struct ag_jvm *jvm, struct ag_patches *p);

#endif
