#include "jvm/patches.h"

#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "jvm/classes.h"
#include "jvm/patch_work.h"
#include "jvm/ref.h"
#include "jvm/thread.h"

#define SILENCE_MS 100 /* for so long no answer has become stale … */
#define SILENCE_TRIES 50 /* … but not for ever */

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail for this clock */
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Patches are one session's at a time.  References that come and go with it have a frame. */
static int enter(struct ag_jvm *jvm, struct ag_patches *p)
{
	if (ag_ref_push(jvm) != 0)
		return -1;
	ag_patches_lock(p, p->operation);
	ag_patch_purge(jvm, p);
	return 0;
}

/* With the last patch goes the hook. */
static void leave(struct ag_jvm *jvm, struct ag_patches *p)
{
	if (!p->list)
		ag_patches_deafen(p);
	ag_patches_unlock(p, p->operation);
	ag_ref_pop(jvm);
}

static void *copy(struct ag_jvm *jvm, struct ag_patches *p, const void *data, size_t len)
{
	void *own = ag_alloc(&p->mem, len + 1, 1);

	if (own)
		memcpy(own, data, len);
	else
		(void)ag_fail_memory(jvm);
	return own;
}

/* The hash of "p/C", of which the signature is "Lp/C;". */
static int hash_name(struct ag_jvm *jvm, jclass class, uint64_t *name)
{
	char *signature = ag_class_signature(jvm, class);

	if (!signature)
		return -1;
	*name = *signature == 'L' ? ag_hash(signature + 1, strlen(signature) - 2) : 0;
	ag_ti_free(jvm, signature);
	return 0;
}

static struct ag_patch *new_patch(struct ag_jvm *jvm, struct ag_patches *p,
				  const struct ag_new_patch *new)
{
	struct ag_patch *patch = ag_alloc(&p->mem, 1, sizeof(*patch));

	if (!patch) {
		(void)ag_fail_memory(jvm);
		return NULL;
	}
	patch->id = ++p->last_id;
	patch->when_ms = now_ms();
	patch->len = new->len;
	patch->file = copy(jvm, p, new->bytes, new->len);
	patch->label = copy(jvm, p, new->file, strlen(new->file));
	patch->digest = copy(jvm, p, new->digest, strlen(new->digest));
	patch->class = (*jvm->jni)->NewWeakGlobalRef(jvm->jni, new->class);
	if (!ag_ref_threw(jvm, "NewWeakGlobalRef") && patch->class && patch->file &&
	    patch->label && patch->digest && hash_name(jvm, new->class, &patch->name) == 0 &&
	    ag_patch_tag(jvm, p, new->class, &patch->tag) == 0)
		return patch;
	(void)ag_fail_memory(jvm);
	ag_patch_free(p, jvm->jni, patch);
	return NULL;
}

static int new_patches(struct ag_jvm *jvm, struct ag_patches *p, const struct ag_new_patch *new,
		       struct ag_patch **patches, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		patches[i] = new_patch(jvm, p, &new[i]);
		if (!patches[i])
			return -1;
	}
	return 0;
}

int ag_patches_install(struct ag_jvm *jvm, const struct ag_new_patch *new, uint32_t n,
		       struct ag_patched *patched)
{
	struct ag_patches *p = ag_patches_make(jvm);
	struct ag_patch **patches;
	int rc = -1;

	patched->code = JVMTI_ERROR_INTERNAL;
	if (!p || enter(jvm, p) != 0)
		return -1;
	patches = ag_alloc(&p->mem, n, sizeof(struct ag_patch *));
	if (!patches)
		(void)ag_fail_memory(jvm);
	else if (new_patches(jvm, p, new, patches, n) == 0)
		rc = ag_patch_install(jvm, p, patches, n, false, patched);
	for (uint32_t i = 0; patches && i < n && (rc != 0 || patched->code != 0); i++)
		ag_patch_free(p, jvm->jni, patches[i]);
	ag_free(&p->mem, patches);
	leave(jvm, p);
	return rc;
}

static bool is_one_of(uint64_t id, const uint64_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] == id)
			return true;
	}
	return n == 0;
}

/* Those that are meant, in an array of their number; NULL: no memory. */
static struct ag_patch **select_patches(struct ag_jvm *jvm, struct ag_patches *p, bool stale_only,
					const uint64_t *ids, uint32_t n_ids, uint32_t *n)
{
	struct ag_patch **selected;
	uint32_t all = 0;

	*n = 0;
	for (const struct ag_patch *patch = p->list; patch; patch = patch->next)
		all++;
	selected = ag_alloc(&p->mem, all, sizeof(struct ag_patch *));
	if (!selected)
		(void)ag_fail_memory(jvm);
	ag_patches_lock(p, p->table);
	for (struct ag_patch *patch = p->list; selected && patch; patch = patch->next) {
		if ((!stale_only || patch->stale) && is_one_of(patch->id, ids, n_ids))
			selected[(*n)++] = patch;
	}
	ag_patches_unlock(p, p->table);
	return selected;
}

int ag_patches_restore(struct ag_jvm *jvm, const uint64_t *ids, uint32_t n, jvmtiError *code,
		       uint32_t *restored)
{
	struct ag_patches *p = ag_patches();
	struct ag_patch **patches;
	int rc = -1;

	*code = JVMTI_ERROR_NONE;
	*restored = 0;
	if (!p)
		return 0;
	if (enter(jvm, p) != 0)
		return -1;
	patches = select_patches(jvm, p, false, ids, n, restored);
	if (patches)
		rc = *restored ? ag_patch_restore(jvm, p, patches, *restored, code) : 0;
	ag_free(&p->mem, patches);
	leave(jvm, p);
	return rc;
}

/* What the client sent is not longer; see redefine.c. */
static void copy_text(char to[AG_PATCH_TEXT], const char *text)
{
	memcpy(to, text, strlen(text) + 1);
}

/* The patch that was made next after the one with this id, and whose class is still there. */
static bool copy_next(struct ag_jvm *jvm, const struct ag_patches *p, uint64_t id,
		      struct ag_patch_told *told)
{
	/* The list is in the order of ids: each new one comes to its end. */
	for (const struct ag_patch *patch = p->list; patch; patch = patch->next) {
		if (patch->id <= id)
			continue;
		told->class = (*jvm->jni)->NewLocalRef(jvm->jni, patch->class);
		if (!told->class)
			continue;
		told->id = patch->id;
		told->when_ms = patch->when_ms;
		copy_text(told->file, patch->label);
		copy_text(told->digest, patch->digest);
		return true;
	}
	return false;
}

/* Without a frame: what tell() refers to is its own. */
int ag_patches_each(struct ag_jvm *jvm,
		    int (*tell)(struct ag_jvm *jvm, const struct ag_patch_told *patch, void *arg),
		    void *arg)
{
	struct ag_patches *p = ag_patches();
	struct ag_patch_told told = { 0 };
	int rc = 0;

	while (p && rc == 0) {
		bool more;

		ag_patches_lock(p, p->operation);
		more = copy_next(jvm, p, told.id, &told);
		ag_patches_unlock(p, p->operation);
		if (!more)
			break;
		rc = tell(jvm, &told, arg);
		ag_ref_drop(jvm, told.class);
	}
	return rc;
}

bool ag_patches_has(jclass class)
{
	struct ag_patches *p = ag_patches();
	const struct ag_patch *patch;
	jlong tag = 0;

	/* Most classes have no tag: this is asked of every one in the list. */
	if (!p || (*p->ti)->GetTag(p->ti, class, &tag) != JVMTI_ERROR_NONE || tag == 0)
		return false;
	ag_patches_lock(p, p->table);
	patch = ag_patch_find(p, tag);
	ag_patches_unlock(p, p->table);
	return patch;
}

/*
 * Many classes may be retransformed at once, and each call of the hook tells of one.  JDK 8 has
 * no lock on a class that is being redefined, either: an operation that has not ended yet would
 * have the last word.  So the others come to their end first.
 */
static void wait_for_silence(struct ag_patches *p)
{
	uint64_t marks;

	ag_patches_lock(p, p->table);
	for (int i = 0; i < SILENCE_TRIES; i++) {
		marks = p->marks;
		if ((*p->ti)->RawMonitorWait(p->ti, p->table, SILENCE_MS) != JVMTI_ERROR_NONE ||
		    marks == p->marks)
			break;
	}
	p->settling = false; /* who comes now comes too late for this thread */
	ag_patches_unlock(p, p->table);
}

/* What fails leaves the old answers in force: better those than none. */
static void renew(struct ag_jvm *jvm, struct ag_patches *p)
{
	struct ag_patched patched;
	uint32_t n;
	struct ag_patch **stale = select_patches(jvm, p, true, NULL, 0, &n);

	if (n > 0)
		(void)ag_patch_install(jvm, p, stale, n, true, &patched);
	ag_free(&p->mem, stale);
}

static void JNICALL settle(jvmtiEnv *ti, JNIEnv *jni, void *arg)
{
	struct ag_patches *p = arg;
	struct ag_jvm jvm = { .vm = p->vm, .ti = ti, .jni = jni, .mem = &p->mem };

	wait_for_silence(p);
	if (enter(&jvm, p) != 0)
		return;
	renew(&jvm, p);
	leave(&jvm, p);
}

void ag_patches_settle(struct ag_patches *p, JNIEnv *jni)
{
	struct ag_jvm jvm = { .vm = p->vm, .ti = p->ti, .jni = jni };

	if (ag_thread_start(&jvm, settle, p) == 0)
		return;
	ag_patches_lock(p, p->table);
	p->settling = false; /* the next one may try again */
	ag_patches_unlock(p, p->table);
}
