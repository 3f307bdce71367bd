/* Built for speed: it is looked into on the application's threads. */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/profile_kinds.h"

#include <string.h>

#include "base/hash.h"
#include "base/table.h"

/* Bytes of an arena for each slot of the tables: 98,304 classes of 64 MB. */
#define CLASS_BYTES 512u

struct ag_kinds {
	struct ag_table classes, kinds;
};

struct known {
	struct ag_item item; /* by the identity hash */
	uint32_t kind;
	jweak class;
};

struct kind {
	struct ag_item item;
	uint32_t len;
	char signature[];
};

/* Kinds, by signature */

struct text {
	const char *signature;
	size_t len;
};

static bool is_kind(const struct ag_item *item, const void *key)
{
	const struct kind *kind = (const void *)item;
	const struct text *text = key;

	return kind->len == text->len && memcmp(kind->signature, text->signature, text->len) == 0;
}

static struct ag_item *add_kind(struct ag_kinds *kinds, const struct text *text, uint32_t hash)
{
	struct kind *kind;

	if (ag_table_full(&kinds->kinds) || text->len >= UINT32_MAX)
		return NULL;
	kind = ag_arena_take(kinds->kinds.arena, sizeof(*kind) + text->len + 1);
	if (!kind)
		return NULL;
	kind->item.hash = hash;
	kind->len = (uint32_t)text->len;
	memcpy(kind->signature, text->signature, text->len); /* the arena is zeroed */
	return ag_table_add(&kinds->kinds, &kind->item, is_kind, text);
}

uint32_t ag_kinds_named(struct ag_kinds *kinds, const char *signature, size_t len)
{
	const struct text text = { signature, len };
	uint64_t bits = ag_hash(signature, len);
	uint32_t hash = (uint32_t)(bits ^ bits >> 32);
	struct ag_item *item = ag_table_find(&kinds->kinds, hash, is_kind, &text);

	if (!item)
		item = add_kind(kinds, &text, hash);
	return item ? ag_table_number(&kinds->kinds, item) : AG_KIND_NONE;
}

const char *ag_kinds_signature(const struct ag_kinds *kinds, uint32_t kind)
{
	const struct ag_item *item = ag_table_get(&kinds->kinds, kind);

	return item ? ((const struct kind *)(const void *)item)->signature : NULL;
}

uint32_t ag_kinds_count(const struct ag_kinds *kinds)
{
	return ag_table_count(&kinds->kinds);
}

/* Classes, by identity hash */

struct asked {
	JNIEnv *jni;
	jclass class;
};

static bool is_class(const struct ag_item *item, const void *key)
{
	const struct known *known = (const void *)item;
	const struct asked *asked = key;

	return (*asked->jni)->IsSameObject(asked->jni, known->class, asked->class);
}

static uint32_t kind_of(struct ag_kinds *kinds, jvmtiEnv *ti, jclass class)
{
	char *signature = NULL;
	uint32_t kind;

	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return AG_KIND_NONE;
	kind = ag_kinds_named(kinds, signature, strlen(signature));
	(void)(*ti)->Deallocate(ti, (unsigned char *)signature); /* it is JVMTI's own */
	return kind;
}

/* A weak reference keeps no class from being unloaded; then it is the same as no other. */
static struct ag_item *add_class(struct ag_kinds *kinds, jvmtiEnv *ti, const struct asked *asked,
				 jint hash)
{
	JNIEnv *jni = asked->jni;
	uint32_t kind = kind_of(kinds, ti, asked->class);
	struct ag_item *added;
	struct known *known;

	if (kind == AG_KIND_NONE || ag_table_full(&kinds->classes))
		return NULL;
	known = ag_arena_take(kinds->classes.arena, sizeof(*known));
	if (!known)
		return NULL;
	known->item.hash = (uint32_t)hash;
	known->kind = kind;
	known->class = (*jni)->NewWeakGlobalRef(jni, asked->class);
	if (!known->class) {
		(*jni)->ExceptionClear(jni); /* an OutOfMemoryError */
		return NULL;
	}
	added = ag_table_add(&kinds->classes, &known->item, is_class, asked);
	if (added != &known->item)
		(*jni)->DeleteWeakGlobalRef(jni, known->class);
	else
		(void)ag_table_number(&kinds->classes, added); /* it counts how many there are */
	return added;
}

/*
 * Another class with the hash, of another kind; also one that was unloaded: counts that go by the
 * hash alone may still be its.
 */
static bool is_other(const struct ag_item *item, const void *key)
{
	const struct known *known = (const void *)item;

	return known->kind != *(const uint32_t *)key;
}

uint32_t ag_kinds_of(struct ag_kinds *kinds, jvmtiEnv *ti, JNIEnv *jni, jclass class, jint hash,
		     bool *shared)
{
	const struct asked asked = { jni, class };
	struct ag_item *item = ag_table_find(&kinds->classes, (uint32_t)hash, is_class, &asked);
	uint32_t kind;

	if (!item)
		item = add_class(kinds, ti, &asked, hash);
	if (!item)
		return AG_KIND_NONE;
	kind = ((const struct known *)(const void *)item)->kind;
	if (shared)
		*shared = ag_table_find(&kinds->classes, (uint32_t)hash, is_other, &kind);
	return kind;
}

struct ag_kinds *ag_kinds_new(struct ag_arena *arena)
{
	struct ag_kinds *kinds = ag_arena_take(arena, sizeof(*kinds));
	size_t n = arena->size / CLASS_BYTES;

	if (!kinds || n > UINT32_MAX || ag_table_init(&kinds->classes, arena, (uint32_t)n) != 0 ||
	    ag_table_init(&kinds->kinds, arena, (uint32_t)n) != 0)
		return NULL;
	return kinds;
}

void ag_kinds_release(struct ag_kinds *kinds, JNIEnv *jni)
{
	for (uint32_t i = 0; i < ag_table_slots(&kinds->classes); i++) {
		const struct known *known = (const void *)ag_table_in(&kinds->classes, i);

		if (known)
			(*jni)->DeleteWeakGlobalRef(jni, known->class);
	}
}
