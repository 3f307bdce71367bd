/* Places in code that make what no constructor tells of. */
#include <string.h>

#include "jvm/profile_exact_state.h"

#define NUMBERS (UINT32_C(1) << 30) /* below the bit that tells places from classes */

/* The library's: instrumented code that outlives its profile is no other one's. */
static uint32_t last_number;

static struct ag_place *chunk_of(struct ag_exact *exact, uint32_t i)
{
	struct ag_place **at = &exact->places[i / AG_PLACE_CHUNK], *none = NULL;
	struct ag_place *chunk = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	if (chunk)
		return chunk;
	chunk = ag_arena_take(&exact->profile->arena, AG_PLACE_CHUNK * sizeof(*chunk));
	if (!chunk || __atomic_compare_exchange_n(at, &none, chunk, false, __ATOMIC_ACQ_REL,
						  __ATOMIC_ACQUIRE))
		return chunk;
	return none; /* another thread's; ours is lost */
}

static const char *copy_owner(struct ag_exact *exact, const char *owner, size_t len)
{
	char *copy = ag_arena_take(&exact->profile->arena, len + 1);

	if (copy)
		memcpy(copy, owner, len); /* the arena is zeroed */
	return copy;
}

static bool needs_owner(enum ag_place_kind kind)
{
	return kind == AG_PLACE_CLONE || kind == AG_PLACE_CLONE_SPECIAL;
}

static uint32_t next_number(struct ag_exact *exact)
{
	uint32_t number = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);

	if (number < NUMBERS && number - exact->first_place < AG_PLACE_CHUNK * AG_PLACE_CHUNKS)
		return number;
	(void)__atomic_sub_fetch(&last_number, 1, __ATOMIC_RELAXED);
	return 0;
}

uint32_t ag_hooks_place(struct ag_exact *exact, enum ag_place_kind kind, const char *signature,
			size_t signature_len, const char *owner, size_t owner_len)
{
	struct ag_place place = { .kind = kind, .array = AG_KIND_NONE }, *chunk;
	uint32_t number, i;

	if (signature) {
		place.array = ag_kinds_named(exact->profile->kinds, signature, signature_len);
		if (place.array == AG_KIND_NONE)
			return 0;
	}
	if (needs_owner(kind)) {
		place.owner = copy_owner(exact, owner, owner_len);
		if (!place.owner)
			return 0;
	}
	number = next_number(exact);
	i = number - exact->first_place;
	chunk = number != 0 ? chunk_of(exact, i) : NULL;
	if (!chunk)
		return 0;
	chunk[i % AG_PLACE_CHUNK] = place; /* before the code is run that has the number */
	return number;
}

void ag_places_begin(struct ag_exact *exact)
{
	exact->first_place = __atomic_load_n(&last_number, __ATOMIC_RELAXED) + 1;
}

const struct ag_place *ag_place_of(const struct ag_exact *exact, jint number)
{
	uint32_t i = (uint32_t)number - exact->first_place;
	const struct ag_place *chunk;

	if (number <= 0 || i >= AG_PLACE_CHUNK * AG_PLACE_CHUNKS)
		return NULL;
	chunk = __atomic_load_n(&exact->places[i / AG_PLACE_CHUNK], __ATOMIC_ACQUIRE);
	return chunk ? &chunk[i % AG_PLACE_CHUNK] : NULL;
}

/* Copies */

static bool is_clone(const struct ag_profile *profile, jmethodID method)
{
	char *name = NULL, *descriptor = NULL;
	bool is = false;

	if ((*profile->ti)->GetMethodName(profile->ti, method, &name, &descriptor, NULL) !=
	    JVMTI_ERROR_NONE)
		return false;
	is = strcmp(name, "clone") == 0 && strcmp(descriptor, "()Ljava/lang/Object;") == 0;
	(void)(*profile->ti)->Deallocate(profile->ti, (unsigned char *)name);
	(void)(*profile->ti)->Deallocate(profile->ti, (unsigned char *)descriptor);
	return is;
}

/* Not by JNI's GetMethodID, which waits for a class that another thread is initialising. */
static bool declares_clone(const struct ag_profile *profile, jclass class)
{
	jmethodID *methods = NULL;
	bool has = false;
	jint n = 0;

	if ((*profile->ti)->GetClassMethods(profile->ti, class, &n, &methods) != JVMTI_ERROR_NONE)
		return true;
	for (jint i = 0; i < n && !has; i++)
		has = is_clone(profile, methods[i]);
	(void)(*profile->ti)->Deallocate(profile->ti, (unsigned char *)methods);
	return has;
}

/* "Lp/A;" and "p/A" */
static bool is_named(const struct ag_profile *profile, jclass class, const char *name)
{
	char *signature = NULL;
	size_t len = strlen(name);
	bool is;

	if ((*profile->ti)->GetClassSignature(profile->ti, class, &signature, NULL) !=
	    JVMTI_ERROR_NONE)
		return false;
	is = strlen(signature) == len + 2 && memcmp(signature + 1, name, len) == 0;
	(void)(*profile->ti)->Deallocate(profile->ti, (unsigned char *)signature);
	return is;
}

/*
 * From the object's class to java.lang.Object: no class declares a clone() of its own, from that
 * one on which the call goes to; and this is among them, else another class's method made it.
 */
static bool selects_object(const struct ag_profile *profile, JNIEnv *jni,
			   const struct ag_place *place, jclass class)
{
	bool owned = false, overridden = false;
	jclass at = (*jni)->NewLocalRef(jni, class);

	while (at && !overridden) {
		jclass super = (*jni)->GetSuperclass(jni, at);

		owned |= is_named(profile, at, place->owner);
		if (super && (owned || place->kind == AG_PLACE_CLONE))
			overridden = declares_clone(profile, at);
		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
	if (at)
		(*jni)->DeleteLocalRef(jni, at);
	return owned && !overridden;
}

bool ag_place_cloned(const struct ag_profile *profile, JNIEnv *jni, const struct ag_place *place,
		     jclass class, const char *signature)
{
	if (!place->owner)
		return true;
	if (signature[0] == '[') /* early compilers: of Object */
		return place->owner[0] == '[' || strcmp(place->owner, "java/lang/Object") == 0;
	return place->owner[0] != '[' && selects_object(profile, jni, place, class);
}
