/*
 * Patches: classes that run other code than they came with, until it is put back.
 *
 * A patch is a class file F of the client's.  It is installed as a retransformation: the hook
 * of an environment that lives as long as there are patches answers with new bytes for the
 * class, so that the JVM keeps the bytes the class came with, the patch survives the
 * retransformations of others, and goes away when the hook hands on a copy of what comes in
 * (a copy: from JDK 21 on HotSpot forgets what it kept otherwise, and a class with a NaN
 * constant grows with each round).
 *
 * Other agents' transformers that were there before stand before our hook, so what they do to
 * the class would be lost.  Therefore the answer is not F, but what they make of F: an abandoned
 * redefinition with F tells (capture.h).  And an abandoned retransformation tells what comes in
 * without us.  When something else comes in one day, because a transformer came, went or
 * changed its mind, then the answer is out of date: it is given all the same, and a thread is
 * started that installs the patch anew.
 *
 * Why no redefinition, with the captured original to take it back: up to JDK 17 the next
 * retransformation of a class that another agent has ever changed undoes it, and the original
 * that was captured has in it what others made of the class by then, which would stay for ever.
 *
 * Patches are this library's, not a session's, and survive the client.  A class is referred to
 * weakly: a patch does not keep it from being unloaded, and goes with it.
 */
#ifndef JTOOL_AGENT_JVM_PATCHES_H
#define JTOOL_AGENT_JVM_PATCHES_H

#include "jvm/ti.h"

#define AG_PATCH_TEXT 512 /* file and digest are cut to this */

struct ag_new_patch {
	jclass class;
	uint8_t *bytes; /* F; ag_alloc's with jvm->mem */
	size_t len;
	char file[AG_PATCH_TEXT], digest[AG_PATCH_TEXT];
};

struct ag_patched {
	jvmtiError code;  /* JVMTI_ERROR_NONE: all; else none */
	uint32_t n_others; /* whose bytes other agents changed further */
};

/*
 * Install all of them, or none.  A class that has a patch gets the new one in its place.  -1 only
 * when it could not be tried.  The bytes stay the caller's.
 */
int ag_patches_install(struct ag_jvm *jvm, const struct ag_new_patch *patches, uint32_t n,
		       struct ag_patched *patched);

/* Take away those with these ids, or all with n = 0; *restored is how many there were. */
int ag_patches_restore(struct ag_jvm *jvm, const uint64_t *ids, uint32_t n, jvmtiError *code,
		       uint32_t *restored);

struct ag_patch_told {
	uint64_t id, when_ms; /* since 1970 */
	jclass class;         /* a local reference, for the time of the call */
	char file[AG_PATCH_TEXT], digest[AG_PATCH_TEXT];
};

/*
 * Tell each patch whose class is still there; ends early when tell() is not 0, returning that.
 * tell() may take its time: no lock is held.
 */
int ag_patches_each(struct ag_jvm *jvm,
		    int (*tell)(struct ag_jvm *jvm, const struct ag_patch_told *patch, void *arg),
		    void *arg);

/* Is there one for this class? */
bool ag_patches_has(jclass class);

#endif
