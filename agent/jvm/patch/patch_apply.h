/* Installs, refreshes and restores patches.  The caller holds `operation`, see patch_table.h. */
#ifndef JTOOL_AGENT_JVM_PATCH_PATCH_APPLY_H
#define JTOOL_AGENT_JVM_PATCH_PATCH_APPLY_H

#include "jvm/patch/patch_table.h"
#include "jvm/patch/patches.h"

/*
 * Prepares the outputs of these n patches and installs them.  Adds new patches to the table, where
 * a new patch replaces an earlier one of the same class.  If `refreshes` is true, the patches are
 * in the table already, and are installed again because they are stale.  Returns 0 with the JVM's
 * answer in patched->code; or -1 if the error is recorded or the JVM is shutting down.  If
 * patched->code is not 0, the JVM has refused the outputs and nothing has changed.
 */
int ag_patch_install(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, bool refreshes, struct ag_patched *patched);

/*
 * Restores the classes of these n patches.  If that succeeds, stores 0 in *code, and removes and
 * frees the patches.  Otherwise *code is the JVM's error.  Returns 0, or -1 if the error is
 * recorded or the JVM is shutting down.
 */
int ag_patch_restore(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, jvmtiError *code);

/* Removes and frees the patches of unloaded classes. */
void ag_patch_purge(struct ag_jvm *jvm, struct ag_patches *p);

#endif
