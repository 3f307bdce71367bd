/*
 * One operation on patches, all of it under the `operation` lock of its table: new answers for
 * some, or the end of some.
 */
#ifndef JTOOL_AGENT_JVM_PATCH_WORK_H
#define JTOOL_AGENT_JVM_PATCH_WORK_H

#include "jvm/patch_table.h"
#include "jvm/patches.h"

/*
 * Make the answers of these patches and install them; those that are not in the table yet come
 * into it, in the place of others for the same classes.  Unless patched->code is 0, nothing has
 * changed.  -1 when it could not be tried.
 */
int ag_patch_install(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, bool renews, struct ag_patched *patched);

/* Put the classes back; with *code 0 their patches are out of the table and freed. */
int ag_patch_restore(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, jvmtiError *code);

/* Take out and free the patches of classes that were unloaded. */
void ag_patch_purge(struct ag_jvm *jvm, struct ag_patches *p);

#endif
