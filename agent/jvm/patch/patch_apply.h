/* Installs and removes patches.  The caller holds the lock `operation`, see patch_table.h. */
#ifndef JTOOL_AGENT_JVM_PATCH_PATCH_APPLY_H
#define JTOOL_AGENT_JVM_PATCH_PATCH_APPLY_H

#include "jvm/patch/patch_table.h"
#include "jvm/patch/patches.h"

/*
 * Prepares the outputs of these n patches (the new bytes of their classes) and installs them.
 * - If `refreshes` is false, the patches are new.  Adds them to the table, where a new patch
 *   replaces an earlier patch of the same class.
 * - If `refreshes` is true, the patches are in the table already, and are installed again because
 *   they are stale.
 *
 * Returns 0 with the JVM's answer in patched->code; if the answer is not 0, the JVM has refused the
 * outputs and nothing has changed.  Returns -1 after an error, which is recorded, and also if the
 * JVM is shutting down, which is not recorded.
 */
int ag_patch_install(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, bool refreshes, struct ag_patched *patched);

/*
 * Restores the classes of these n patches.  If the JVM has restored all classes, stores 0 in *code,
 * and removes and frees the patches.  Otherwise stores the JVM's error in *code.  Returns 0; or -1
 * after an error, which is recorded, and also if the JVM is shutting down, which is not recorded.
 */
int ag_patch_restore(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, jvmtiError *code);

/* Removes and frees the patches of unloaded classes. */
void ag_patch_purge(struct ag_jvm *jvm, struct ag_patches *p);

#endif
