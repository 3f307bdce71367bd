/*
 * Patches: classes whose code is replaced until it is restored.
 *
 * A patch is a class file F from the client, which is installed by a retransformation: the hook of
 * an environment that exists while there are patches returns other bytes for the class.  So the JVM
 * keeps the original bytes, and the patch survives retransformations by others.  To restore the
 * class, the hook passes on a copy of the incoming bytes.  It must be a copy: otherwise HotSpot
 * discards the cached original from JDK 21 on, and a class with a NaN constant grows each time.
 *
 * Transformers of agents that were loaded earlier run before this hook, and returning F would
 * discard their changes.  So the hook returns the bytes into which they transform F.  An abandoned
 * redefinition with F delivers those bytes (capture.h); an abandoned retransformation delivers the
 * bytes that come in without the patch.  When other bytes come in later, because a transformer was
 * added, was removed or changes its output, the patch is stale: the hook still returns its output,
 * and starts a thread that installs the patch again.
 *
 * A patch is not a redefinition, undone by one with the captured original, for two reasons: up to
 * JDK 17, if another agent has ever changed the class, the next retransformation reverts the
 * redefinition; and the captured original would preserve the changes of other agents for ever.
 *
 * Patches belong to the library, not to a session, and survive the client.  They refer to a class
 * weakly: the class can be unloaded, and its patch is then removed.
 */
#ifndef JTOOL_AGENT_JVM_PATCH_PATCHES_H
#define JTOOL_AGENT_JVM_PATCH_PATCHES_H

#include "jvm/jvmti.h"

#define AG_PATCH_TEXT 512 /* bytes of the file's name and digest, including the NUL */

struct ag_new_patch {
	jclass class;
	uint8_t *bytes; /* F; allocated with jvm->mem */
	size_t len;
	char file[AG_PATCH_TEXT], digest[AG_PATCH_TEXT];
};

struct ag_patched {
	jvmtiError code;   /* JVMTI_ERROR_NONE: all patches are installed; otherwise none is */
	uint32_t n_others; /* classes whose bytes transformers of other agents changed further */
};

/*
 * Installs all patches or none.  A new patch replaces an earlier one of the same class.  Returns -1
 * with the error recorded, or if the JVM is shutting down.  The caller frees the bytes.
 */
int ag_patches_install(struct ag_jvm *jvm, const struct ag_new_patch *patches, uint32_t n,
		       struct ag_patched *patched);

/* Restores the patches with these ids, or all if n is 0; stores their number in *restored. */
int ag_patches_restore(struct ag_jvm *jvm, const uint64_t *ids, uint32_t n, jvmtiError *code,
		       uint32_t *restored);

struct ag_patch_info {
	uint64_t id, when_ms; /* when_ms: since 1970 */
	jclass class;         /* a local reference, valid during the call */
	char file[AG_PATCH_TEXT], digest[AG_PATCH_TEXT];
};

/*
 * Calls report() for each patch whose class is still loaded, without a lock.  Stops when report()
 * does not return 0, and returns its result.
 */
int ag_patches_each(struct ag_jvm *jvm,
		    int (*report)(struct ag_jvm *jvm, const struct ag_patch_info *patch, void *arg),
		    void *arg);

/* Returns whether the class has a patch. */
bool ag_patches_has(jclass class);

#endif
