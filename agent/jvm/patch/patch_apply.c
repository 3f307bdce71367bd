#include "jvm/patch/patch_apply.h"

#include <string.h>

#include "jvm/capture/capture.h"
#include "jvm/code_change.h"
#include "jvm/jni_refs.h"
#include "wire/frame.h"

struct work {
	struct ag_jvm *jvm;
	struct ag_patches *p;
	struct ag_operation o;
	jclass *classes;
	struct ag_capture capture;
};

/*
 * Begins the operation.  Until end(), the ClassFileLoadHook of the patches sets a patch's `touched`
 * if another thread retransforms the patch's class.
 */
static void begin(struct work *w)
{
	struct ag_patches *p = w->p;

	ag_patches_lock(p, p->table);
	for (uint32_t i = 0; i < w->o.n; i++)
		w->o.patches[i]->touched = w->o.patches[i]->stale = false;
	p->current = &w->o;
	ag_patches_unlock(p, p->table);
}

static void end(struct work *w)
{
	ag_patches_lock(w->p, w->p->table);
	w->p->current = NULL;
	ag_patches_unlock(w->p, w->p->table);
}

static jvmtiError retransform(struct work *w, enum ag_patch_mode mode, uint32_t n)
{
	jvmtiEnv *ti = w->p->hook;
	jvmtiError code;

	w->o.mode = mode;
	w->o.hits = 0;
	if (mode == AG_PATCH_INSTALL)
		ag_code_change_begins();
	code = (*ti)->RetransformClasses(ti, (jint)n, w->classes);
	/* The hook may have thrown to make HotSpot fail; no exception may remain pending. */
	(*w->jvm->jni)->ExceptionClear(w->jvm->jni);
	if (code == JVMTI_ERROR_WRONG_PHASE)
		w->jvm->stopping = true;
	if (w->o.no_memory)
		return JVMTI_ERROR_OUT_OF_MEMORY;
	return code;
}

/*
 * Retransforms again each class that another thread has retransformed during the operation (its
 * patch is `touched`).  The other thread may have entered the hook before this operation changed
 * the table of patches, and may have installed the old bytes after this operation installed the new
 * ones.  Ignores errors, because the JVM has already accepted the new bytes once.
 */
static void repeat(struct work *w, enum ag_patch_mode mode)
{
	uint32_t n = 0;

	ag_patches_lock(w->p, w->p->table);
	for (uint32_t i = 0; i < w->o.n; i++) {
		if (w->o.patches[i]->touched)
			w->classes[n++] = w->classes[i];
	}
	ag_patches_unlock(w->p, w->p->table);
	if (n > 0)
		(void)retransform(w, mode, n);
}

/*
 * Captures the class of patch i.  During the capture, the hook stores the hash of the patch's input
 * (mode AG_PATCH_READ_INPUT) or the patch's pending output (mode AG_PATCH_READ_OUTPUT).
 */
static jvmtiError read_patch(struct work *w, enum ag_patch_mode mode, uint32_t i)
{
	struct ag_patch *patch = w->o.patches[i];
	struct ag_captured captured;
	int rc;

	w->o.mode = mode;
	w->o.current = patch;
	w->o.hits = 0;
	if (mode == AG_PATCH_READ_INPUT)
		rc = ag_capture_class(w->jvm, &w->capture, w->classes[i], &captured);
	else
		rc = ag_capture_redefinition(w->jvm, &w->capture, w->classes[i], patch->file,
					     patch->len, &captured);
	w->o.current = NULL;
	if (rc != 0 || w->o.no_memory)
		return JVMTI_ERROR_OUT_OF_MEMORY;
	switch (captured.outcome) {
	case WIRE_CAPTURED_FILE:
		return w->o.hits > 0 ? JVMTI_ERROR_NONE : JVMTI_ERROR_INTERNAL;
	case WIRE_CAPTURED_ERROR:
		return captured.code;
	default:
		return JVMTI_ERROR_UNMODIFIABLE_CLASS;
	}
}

/*
 * Prepares the pending output of patch i.  Increments *others if the class that the JVM would get
 * differs from the patch's file, because transformers of other agents change it.
 */
static jvmtiError prepare(struct work *w, uint32_t i, uint32_t *others)
{
	const struct ag_patch *patch = w->o.patches[i];
	jvmtiError code = read_patch(w, AG_PATCH_READ_INPUT, i);

	if (code == JVMTI_ERROR_NONE)
		code = read_patch(w, AG_PATCH_READ_OUTPUT, i);
	if (code == JVMTI_ERROR_NONE)
		*others += w->capture.len != patch->len ||
			   memcmp(w->capture.bytes, patch->file, patch->len) != 0;
	return code;
}

static void unlink_patch(struct ag_patches *p, const struct ag_patch *patch)
{
	struct ag_patch **at = &p->list;

	while (*at && *at != patch)
		at = &(*at)->next;
	if (*at)
		*at = patch->next;
}

static void append(struct ag_patches *p, struct ag_patch *patch)
{
	struct ag_patch **at = &p->list;

	while (*at)
		at = &(*at)->next;
	patch->next = NULL;
	*at = patch;
}

/*
 * Adds patch i to the table unless it is there already, and makes its pending output its current
 * output.  Stores the former output of patch i in *old.  Returns the earlier patch that patch i
 * replaces, or NULL.
 */
static struct ag_patch *enter_patch(struct work *w, uint32_t i, struct ag_patch_output *old)
{
	struct ag_patches *p = w->p;
	struct ag_patch *patch = w->o.patches[i], *before;

	ag_patches_lock(p, p->table);
	before = ag_patch_find(p, patch->tag);
	if (before != patch) {
		if (before)
			unlink_patch(p, before);
		append(p, patch);
	}
	*old = patch->output;
	patch->output = patch->pending;
	ag_patches_unlock(p, p->table);
	return before != patch ? before : NULL;
}

static void enter_all(struct work *w)
{
	for (uint32_t i = 0; i < w->o.n; i++) {
		struct ag_patch_output old;
		struct ag_patch *before = enter_patch(w, i, &old);

		ag_patch_output_free(w->p, w->o.patches[i], &old);
		ag_patch_free(w->p, w->jvm->jni, before);
	}
}

static void install(struct work *w, struct ag_patched *patched)
{
	*patched = (struct ag_patched){ 0 };
	for (uint32_t i = 0; i < w->o.n && patched->code == JVMTI_ERROR_NONE; i++)
		patched->code = prepare(w, i, &patched->n_others);
	if (patched->code == JVMTI_ERROR_NONE)
		patched->code = retransform(w, AG_PATCH_INSTALL, w->o.n);
	if (patched->code != JVMTI_ERROR_NONE)
		return;
	enter_all(w);
	repeat(w, AG_PATCH_INSTALL);
}

/*
 * Returns an array, allocated with p->mem, of local references to the classes of *n patches, or
 * NULL with the error recorded.  Moves the patches of unloaded classes to the end of `patches`,
 * and does not count them in *n.
 */
static jclass *classes_of(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
			  uint32_t *n)
{
	jclass *classes = ag_alloc(&p->mem, *n, sizeof(*classes));
	uint32_t n_loaded = 0;

	if (!classes) {
		(void)ag_fail_memory(jvm);
		return NULL;
	}
	if (ag_ref_expect(jvm, (jint)*n) != 0) {
		ag_free(&p->mem, classes);
		return NULL;
	}
	for (uint32_t i = 0; i < *n; i++) {
		classes[n_loaded] = (*jvm->jni)->NewLocalRef(jvm->jni, patches[i]->class);
		if (classes[n_loaded]) {
			struct ag_patch *patch = patches[i];

			patches[i] = patches[n_loaded];
			patches[n_loaded++] = patch;
		}
	}
	*n = n_loaded;
	return classes;
}

int ag_patch_install(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, bool refreshes, struct ag_patched *patched)
{
	struct work w = {
		.jvm = jvm, .p = p,
		.o = { .jni = jvm->jni, .patches = patches, .n = n, .refreshes = refreshes },
	};
	int rc = -1;

	/*
	 * Create the environment with the patches' hook before the one with the capture's hook.
	 * HotSpot calls the hooks in this order, and the capture's hook must run last.
	 */
	if (ag_patches_listen(jvm, p) != 0)
		return -1;
	if (ag_capture_open(jvm, &w.capture) != 0)
		return -1;
	w.o.thrown = w.capture.thrown;
	w.classes = classes_of(jvm, p, patches, &w.o.n);
	if (!w.classes)
		goto out;
	if (w.o.n < n && !refreshes) {
		/* The caller has references to all classes, so none of them was unloaded. */
		*patched = (struct ag_patched){ .code = JVMTI_ERROR_OUT_OF_MEMORY };
	} else {
		begin(&w);
		install(&w, patched);
		end(&w);
	}
	rc = jvm->stopping ? -1 : 0;
out:
	for (uint32_t i = 0; i < w.o.n; i++) {
		if (patches[i]->pending.bytes != patches[i]->output.bytes)
			ag_patch_output_free(p, patches[i], &patches[i]->pending);
		patches[i]->pending = (struct ag_patch_output){ 0 };
	}
	ag_free(&p->mem, w.classes);
	ag_capture_close(jvm, &w.capture);
	return rc;
}

static void remove_all(struct work *w)
{
	ag_patches_lock(w->p, w->p->table);
	for (uint32_t i = 0; i < w->o.n; i++)
		unlink_patch(w->p, w->o.patches[i]);
	ag_patches_unlock(w->p, w->p->table);
}

int ag_patch_restore(struct ag_jvm *jvm, struct ag_patches *p, struct ag_patch **patches,
		     uint32_t n, jvmtiError *code)
{
	struct work w = {
		.jvm = jvm, .p = p,
		.o = { .jni = jvm->jni, .patches = patches, .n = n },
	};

	w.classes = classes_of(jvm, p, patches, &w.o.n);
	if (!w.classes)
		return -1;
	begin(&w);
	*code = retransform(&w, AG_PATCH_RESTORE, w.o.n);
	if (*code == JVMTI_ERROR_NONE) {
		remove_all(&w);
		repeat(&w, AG_PATCH_RESTORE);
	}
	end(&w);
	for (uint32_t i = 0; i < w.o.n && *code == JVMTI_ERROR_NONE; i++)
		ag_patch_free(p, jvm->jni, patches[i]);
	ag_free(&p->mem, w.classes);
	return jvm->stopping ? -1 : 0;
}

void ag_patch_purge(struct ag_jvm *jvm, struct ag_patches *p)
{
	JNIEnv *jni = jvm->jni;
	struct ag_patch *next;

	for (struct ag_patch *patch = p->list; patch; patch = next) {
		next = patch->next;
		if (!(*jni)->IsSameObject(jni, patch->class, NULL))
			continue;
		ag_patches_lock(p, p->table);
		unlink_patch(p, patch);
		ag_patches_unlock(p, p->table);
		ag_patch_free(p, jni, patch);
	}
}
