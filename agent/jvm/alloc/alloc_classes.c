/* Optimised for speed, because application threads call these functions. */
#ifndef __clang__ /* clang has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/alloc/alloc_classes.h"

#include <string.h>

#include "jvm/jni_refs.h"
#include "util/concurrent_table.h"
#include "util/hash.h"

/*
 * Each of the two tables has one hash slot for every CLASS_BYTES bytes of the arena, and uses at
 * most three quarters of its slots: with an arena of 64 MB, a table has room for 98,304 classes.
 */
#define CLASS_BYTES 512u

struct ag_alloc_classes {
	struct ag_table classes, kinds;
	uint64_t *globals;
};

struct class_entry {
	struct ag_item item; /* its hash is the identity hash of the java.lang.Class */
	uint32_t kind;
	jweak class;
};

struct kind_entry {
	struct ag_item item;
	uint32_t len;
	char signature[];
};

struct name_key {
	const char *signature;
	size_t len;
};

static bool is_kind(const struct ag_item *item, const void *key)
{
	const struct kind_entry *kind = (const void *)item;
	const struct name_key *name = key;

	return kind->len == name->len && memcmp(kind->signature, name->signature, name->len) == 0;
}

static struct ag_item *add_kind(struct ag_alloc_classes *kinds, const struct name_key *name,
				uint32_t hash)
{
	struct kind_entry *kind;

	if (ag_table_full(&kinds->kinds) || name->len >= UINT32_MAX)
		return NULL;
	kind = ag_arena_take(kinds->kinds.arena, sizeof(*kind) + name->len + 1);
	if (!kind)
		return NULL;
	kind->item.hash = hash;
	kind->len = (uint32_t)name->len;
	memcpy(kind->signature, name->signature, name->len); /* the zeroed arena provides the NUL */
	return ag_table_add(&kinds->kinds, &kind->item, is_kind, name);
}

uint32_t ag_alloc_classes_named(struct ag_alloc_classes *kinds, const char *signature, size_t len)
{
	const struct name_key name = { signature, len };
	uint64_t bits = ag_hash(signature, len);
	uint32_t hash = (uint32_t)(bits ^ bits >> 32);
	struct ag_item *item = ag_table_find(&kinds->kinds, hash, is_kind, &name);

	if (!item)
		item = add_kind(kinds, &name, hash);
	return item ? ag_table_number(&kinds->kinds, item) : AG_ALLOC_CLASS_NONE;
}

const char *ag_alloc_classes_signature(const struct ag_alloc_classes *kinds, uint32_t kind)
{
	const struct ag_item *item = ag_table_get(&kinds->kinds, kind);

	return item ? ((const struct kind_entry *)(const void *)item)->signature : NULL;
}

uint32_t ag_alloc_classes_count(const struct ag_alloc_classes *kinds)
{
	return ag_table_count(&kinds->kinds);
}

struct class_key {
	JNIEnv *jni;
	jclass class;
};

static bool is_class(const struct ag_item *item, const void *key)
{
	const struct class_entry *entry = (const void *)item;
	const struct class_key *wanted = key;

	return (*wanted->jni)->IsSameObject(wanted->jni, entry->class, wanted->class);
}

static uint32_t kind_of(struct ag_alloc_classes *kinds, jvmtiEnv *ti, jclass class)
{
	char *signature = NULL;
	uint32_t kind;

	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return AG_ALLOC_CLASS_NONE;
	kind = ag_alloc_classes_named(kinds, signature, strlen(signature));
	(void)(*ti)->Deallocate(ti, (unsigned char *)signature); /* JVMTI allocated it */
	return kind;
}

/*
 * Adds a class.  The reference to the class is weak, so that the class can be unloaded.  The JVM
 * then clears the reference, and IsSameObject() finds it equal to no class.
 */
static struct ag_item *add_class(struct ag_alloc_classes *kinds, jvmtiEnv *ti,
				 const struct class_key *wanted, jint hash)
{
	uint32_t kind = kind_of(kinds, ti, wanted->class);
	struct ag_item *added;
	struct class_entry *entry;

	if (kind == AG_ALLOC_CLASS_NONE || ag_table_full(&kinds->classes))
		return NULL;
	entry = ag_arena_take(kinds->classes.arena, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->item.hash = (uint32_t)hash;
	entry->kind = kind;
	entry->class = ag_ref_weak(wanted->jni, wanted->class, kinds->globals);
	if (!entry->class)
		return NULL;
	added = ag_table_add(&kinds->classes, &entry->item, is_class, wanted);
	if (added != &entry->item)
		ag_ref_weak_drop(wanted->jni, entry->class, kinds->globals);
	else
		/* Entries without a number would not count in ag_table_full(). */
		(void)ag_table_number(&kinds->classes, added);
	return added;
}

/*
 * ag_table_find() calls this for each class that has a given hash.  Returns true if the kind of the
 * class is not *key, even if the class was unloaded, because threads may have counted objects of
 * the class under this hash.
 */
static bool is_other(const struct ag_item *item, const void *key)
{
	const struct class_entry *entry = (const void *)item;

	return entry->kind != *(const uint32_t *)key;
}

uint32_t ag_alloc_classes_of(struct ag_alloc_classes *kinds, jvmtiEnv *ti, JNIEnv *jni,
			     jclass class, jint hash, bool *shared)
{
	const struct class_key wanted = { jni, class };
	struct ag_item *item = ag_table_find(&kinds->classes, (uint32_t)hash, is_class, &wanted);
	uint32_t kind;

	if (!item)
		item = add_class(kinds, ti, &wanted, hash);
	if (!item)
		return AG_ALLOC_CLASS_NONE;
	kind = ((const struct class_entry *)(const void *)item)->kind;
	if (shared)
		*shared = ag_table_find(&kinds->classes, (uint32_t)hash, is_other, &kind);
	return kind;
}

struct ag_alloc_classes *ag_alloc_classes_new(struct ag_arena *arena, uint64_t *globals)
{
	struct ag_alloc_classes *kinds = ag_arena_take(arena, sizeof(*kinds));
	size_t n = arena->size / CLASS_BYTES;

	if (!kinds || n > UINT32_MAX || ag_table_init(&kinds->classes, arena, (uint32_t)n) != 0 ||
	    ag_table_init(&kinds->kinds, arena, (uint32_t)n) != 0)
		return NULL;
	kinds->globals = globals;
	return kinds;
}

void ag_alloc_classes_release(struct ag_alloc_classes *kinds, JNIEnv *jni)
{
	for (uint32_t i = 0; i < ag_table_slots(&kinds->classes); i++) {
		const struct class_entry *entry = (const void *)ag_table_in(&kinds->classes, i);

		if (entry)
			ag_ref_weak_drop(jni, entry->class, kinds->globals);
	}
}
