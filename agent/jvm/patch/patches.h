/*
 * Patches: classes whose code is replaced until it is restored.
 *
 * A patch is a class file F from the client, installed by a retransformation.  While there are
 * patches, the library has a JVMTI environment, whose ClassFileLoadHook replaces the bytes of a
 * patched class.  So the JVM retains the original bytes, and the patch survives retransformations
 * by other agents.  To restore the class, the agent retransforms it once more, and the hook returns
 * a copy of the bytes that it receives.  If the hook returned nothing, HotSpot would from JDK 21 on
 * discard the cached original, and a class with a NaN constant would grow with each
 * retransformation: HotSpot appends each NaN to the constant pool again, because it finds a NaN
 * equal to no constant.
 *
 * The transformers of agents that were loaded earlier run before this hook, and returning F would
 * discard their changes.  So the hook returns the output of the patch: the bytes into which these
 * transformers change F.  Before the agent installs the patch, it captures (capture.h)
 * - the input: the bytes that the hook receives when the unpatched class is retransformed;
 * - the output: the bytes that would be installed if the class were redefined with F.
 * If the hook later receives other bytes than the input, because a transformer was added, was
 * removed or changes its result, the patch is stale: the hook still returns the old output, and
 * starts a thread that installs the patch again.
 *
 * A simpler design would install F with a redefinition, and later redefine the class with its
 * captured original.  It was not chosen, for two reasons.  Up to JDK 17, if another agent has ever
 * changed the class, the next retransformation would revert the redefinition.  And the captured
 * original contains the changes of other agents, so these changes would remain for ever.
 *
 * Patches belong to the library, not to a session, and survive the client.  A patch has a weak
 * reference to its class: the class can be unloaded, and its patch is then removed.
 */
#ifndef JTOOL_AGENT_JVM_PATCH_PATCHES_H
#define JTOOL_AGENT_JVM_PATCH_PATCHES_H

#include "jvm/jvmti.h"

#define AG_PATCH_TEXT 512 /* size of `file` (the file's name) and of `digest`, with the NUL */

struct ag_new_patch {
	jclass class;
	uint8_t *bytes; /* the new class file, F above; allocated with jvm->mem */
	size_t len;
	char file[AG_PATCH_TEXT], digest[AG_PATCH_TEXT];
};

struct ag_patched {
	jvmtiError code;   /* JVMTI_ERROR_NONE: all patches are installed; else no patch is */
	uint32_t n_others; /* number of patches whose class file F other agents change */
};

/*
 * Installs all n patches or none.  A new patch replaces an earlier one of the same class.  Returns
 * 0 with the JVM's answer in patched->code; or -1 if the error is recorded or the JVM is shutting
 * down.  The caller frees the class files.
 */
int ag_patches_install(struct ag_jvm *jvm, const struct ag_new_patch *patches, uint32_t n,
		       struct ag_patched *patched);

/*
 * Restores the classes of the patches with these ids, or of all patches if n is 0.  Stores the
 * number of these patches in *restored.  Stores 0 in *code; or the JVM's error, and then no class
 * is restored.  Returns 0; or -1 if the error is recorded or the JVM is shutting down.
 */
int ag_patches_restore(struct ag_jvm *jvm, const uint64_t *ids, uint32_t n, jvmtiError *code,
		       uint32_t *restored);

struct ag_patch_info {
	uint64_t id, when_ms; /* when_ms: since 1970 */
	jclass class;         /* a local reference, valid until report() returns */
	char file[AG_PATCH_TEXT], digest[AG_PATCH_TEXT];
};

/*
 * Calls report(), without holding a lock, for each patch whose class is still loaded.  Stops when
 * report() returns a value other than 0, and returns that value.
 */
int ag_patches_each(struct ag_jvm *jvm,
		    int (*report)(struct ag_jvm *jvm, const struct ag_patch_info *patch, void *arg),
		    void *arg);

/* Returns true if the class has a patch. */
bool ag_patches_has(jclass class);

#endif
