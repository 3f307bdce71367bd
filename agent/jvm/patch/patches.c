#include "jvm/patch/patches.h"

#include <string.h>
#include <time.h>

#include "util/hash.h"
#include "jvm/classes.h"
#include "jvm/patch/patch_apply.h"
#include "jvm/jni_refs.h"
#include "jvm/thread.h"

/*
 * Stale patches are installed again after STABLE_MS ms in which no other patch became stale, but
 * at the latest after STABLE_TRIES times STABLE_MS ms.
 */
#define STABLE_MS 100
#define STABLE_TRIES 50

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail for this clock */
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Opens a JNI local frame and locks `operation`, so that one session at a time uses the patches. */
static int enter(struct ag_jvm *jvm, struct ag_patches *p)
{
	if (ag_ref_push(jvm) != 0)
		return -1;
	ag_patches_lock(p, p->operation);
	ag_patch_purge(jvm, p);
	return 0;
}

/* Disables the hook's events if no patches remain, unlocks, and closes the local frame. */
static void leave(struct ag_jvm *jvm, struct ag_patches *p)
{
	if (!p->list)
		ag_patches_disable_events(p);
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

/* Stores the hash of the name "p/C" of a class that has the signature "Lp/C;". */
static int hash_name(struct ag_jvm *jvm, jclass class, uint64_t *name)
{
	char *signature = ag_class_signature(jvm, class);

	if (!signature)
		return -1;
	*name = *signature == 'L' ? ag_hash(signature + 1, strlen(signature) - 2) : 0;
	ag_jvmti_free(jvm, signature);
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
	patch->class = ag_ref_weak(jvm->jni, new->class, &p->globals);
	if (patch->class && patch->file && patch->label && patch->digest &&
	    hash_name(jvm, new->class, &patch->name) == 0 &&
	    ag_patch_tag(jvm, p, new->class, &patch->tag) == 0)
		return patch;
	(void)ag_fail_memory(jvm);
	ag_patch_free(p, jvm->jni, patch);
	return NULL;
}

/* Returns true if two of the patches have the same class. */
static bool have_one_class_twice(struct ag_patch *const *patches, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		for (uint32_t j = 0; j < i; j++) {
			if (patches[i]->tag == patches[j]->tag)
				return true;
		}
	}
	return false;
}

/*
 * Creates the patches.  Returns 0, or -1 with the error recorded, for example because two patches
 * have the same class: the second one would replace and free the first, which is still in use.
 */
static int new_patches(struct ag_jvm *jvm, struct ag_patches *p, const struct ag_new_patch *new,
		       struct ag_patch **patches, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		patches[i] = new_patch(jvm, p, &new[i]);
		if (!patches[i])
			return -1;
	}
	if (have_one_class_twice(patches, n))
		return ag_fail(jvm, "read the request", "a class is given twice");
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
	for (uint32_t i = 0; patches && i < n && patched->code != 0; i++)
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

/*
 * Returns an array of the patches with these ids or, if n_ids is 0, of all patches.  If
 * `stale_only` is true, the array has only the stale ones among them.  Stores the length of the
 * array in *n.  Returns NULL with the error recorded if memory is short.
 */
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

/* Copies `text`.  It fits, because agent/cmd/redefine.c limits the texts that the client sends. */
static void copy_text(char to[AG_PATCH_TEXT], const char *text)
{
	memcpy(to, text, strlen(text) + 1);
}

/*
 * Copies the first patch whose id is greater than `id` and whose class is still loaded.  Returns
 * false if there is none.
 */
static bool copy_next(struct ag_jvm *jvm, const struct ag_patches *p, uint64_t id,
		      struct ag_patch_info *info)
{
	/* Ids increase along the list, because new patches are appended. */
	for (const struct ag_patch *patch = p->list; patch; patch = patch->next) {
		if (patch->id <= id)
			continue;
		info->class = (*jvm->jni)->NewLocalRef(jvm->jni, patch->class);
		if (!info->class)
			continue;
		info->id = patch->id;
		info->when_ms = patch->when_ms;
		copy_text(info->file, patch->label);
		copy_text(info->digest, patch->digest);
		return true;
	}
	return false;
}

int ag_patches_each(struct ag_jvm *jvm,
		    int (*report)(struct ag_jvm *jvm, const struct ag_patch_info *patch, void *arg),
		    void *arg)
{
	struct ag_patches *p = ag_patches();
	struct ag_patch_info info = { 0 };
	int rc = 0;

	while (p && rc == 0) {
		bool more;

		ag_patches_lock(p, p->operation);
		more = copy_next(jvm, p, info.id, &info);
		ag_patches_unlock(p, p->operation);
		if (!more)
			break;
		rc = report(jvm, &info, arg);
		ag_ref_drop(jvm, info.class);
	}
	return rc;
}

bool ag_patches_has(jclass class)
{
	struct ag_patches *p = ag_patches();
	const struct ag_patch *patch;
	jlong tag = 0;

	/* Do not lock for classes without a tag: this function is called for every class. */
	if (!p || (*p->ti)->GetTag(p->ti, class, &tag) != JVMTI_ERROR_NONE || tag == 0)
		return false;
	ag_patches_lock(p, p->table);
	patch = ag_patch_find(p, tag);
	ag_patches_unlock(p, p->table);
	return patch;
}

/*
 * Waits until no patch has become stale for STABLE_MS ms.  Then the retransformation on another
 * thread, which makes one patch after the other stale, has probably ended.  If it ended after
 * refresh_stale(), it would overwrite the patches, because JDK 8 does not lock a class that is
 * being redefined.
 */
static void wait_until_stable(struct ag_patches *p)
{
	uint64_t stale_events;

	ag_patches_lock(p, p->table);
	for (int i = 0; i < STABLE_TRIES; i++) {
		stale_events = p->stale_events;
		if ((*p->ti)->RawMonitorWait(p->ti, p->table, STABLE_MS) != JVMTI_ERROR_NONE ||
		    stale_events == p->stale_events)
			break;
	}
	p->refreshing = false; /* a patch that becomes stale from now on starts another thread */
	ag_patches_unlock(p, p->table);
}

/* Installs the stale patches again.  If that fails, the classes keep the patches' old outputs. */
static void refresh_stale(struct ag_jvm *jvm, struct ag_patches *p)
{
	struct ag_patched patched;
	uint32_t n;
	struct ag_patch **stale = select_patches(jvm, p, true, NULL, 0, &n);

	if (n > 0)
		(void)ag_patch_install(jvm, p, stale, n, true, &patched);
	ag_free(&p->mem, stale);
}

static void JNICALL run_refresh(jvmtiEnv *ti, JNIEnv *jni, void *arg)
{
	struct ag_patches *p = arg;
	struct ag_jvm jvm = { .vm = p->vm, .ti = ti, .jni = jni, .mem = &p->mem };

	wait_until_stable(p);
	if (enter(&jvm, p) != 0)
		return;
	refresh_stale(&jvm, p);
	leave(&jvm, p);
}

void ag_patches_refresh(struct ag_patches *p, JNIEnv *jni)
{
	struct ag_jvm jvm = { .vm = p->vm, .ti = p->ti, .jni = jni };

	if (ag_thread_start(&jvm, run_refresh, p) == 0)
		return;
	ag_patches_lock(p, p->table);
	p->refreshing = false; /* the next stale patch may start a thread */
	ag_patches_unlock(p, p->table);
}
