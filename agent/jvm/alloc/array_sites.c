/* Array sites: code that allocates objects which no constructor hook counts. */
#include <string.h>

#include "jvm/alloc/alloc_exact_state.h"

#define NUMBERS (UINT32_C(1) << 30) /* limit of site numbers, below AG_KEY_ARRAY_SITE */

/*
 * The number that was assigned last.  Never reset: code with numbers of an earlier profile may
 * still run, and its numbers must not be those of a later profile.
 */
static uint32_t last_array_site;

static struct ag_array_site *chunk_of(struct ag_exact *exact, uint32_t i)
{
	struct ag_array_site **at = &exact->array_sites[i / AG_ARRAY_SITE_CHUNK], *none = NULL;
	struct ag_array_site *chunk = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	if (chunk)
		return chunk;
	chunk = ag_arena_take(&exact->profile->arena, AG_ARRAY_SITE_CHUNK * sizeof(*chunk));
	if (!chunk || __atomic_compare_exchange_n(at, &none, chunk, false, __ATOMIC_ACQ_REL,
						  __ATOMIC_ACQUIRE))
		return chunk;
	return none; /* the chunk that another thread stored meanwhile; `chunk` is wasted */
}

static const char *copy_owner(struct ag_exact *exact, const char *owner, size_t len)
{
	char *copy = ag_arena_take(&exact->profile->arena, len + 1);

	if (copy)
		memcpy(copy, owner, len); /* the zeroed arena provides the NUL */
	return copy;
}

static bool needs_owner(enum ag_array_site_kind kind)
{
	return kind == AG_ARRAY_SITE_CLONE || kind == AG_ARRAY_SITE_CLONE_SPECIAL;
}

static uint32_t next_number(struct ag_exact *exact)
{
	uint32_t number = __atomic_add_fetch(&last_array_site, 1, __ATOMIC_RELAXED);

	if (number < NUMBERS &&
	    number - exact->first_array_site < AG_ARRAY_SITE_CHUNK * AG_ARRAY_SITE_CHUNKS)
		return number;
	(void)__atomic_sub_fetch(&last_array_site, 1, __ATOMIC_RELAXED);
	return 0;
}

uint32_t ag_array_site_new(struct ag_exact *exact, enum ag_array_site_kind kind,
			   const char *signature, size_t signature_len, const char *owner,
			   size_t owner_len)
{
	struct ag_array_site array_site = { .kind = kind, .array = AG_ALLOC_CLASS_NONE }, *chunk;
	uint32_t number, i;

	if (signature) {
		array_site.array =
			ag_alloc_classes_named(exact->profile->kinds, signature, signature_len);
		if (array_site.array == AG_ALLOC_CLASS_NONE)
			return 0;
	}
	if (needs_owner(kind)) {
		array_site.owner = copy_owner(exact, owner, owner_len);
		if (!array_site.owner)
			return 0;
	}
	number = next_number(exact);
	i = number - exact->first_array_site;
	chunk = number != 0 ? chunk_of(exact, i) : NULL;
	if (!chunk)
		return 0;
	/* No code with this number runs yet, so no other thread reads the entry. */
	chunk[i % AG_ARRAY_SITE_CHUNK] = array_site;
	return number;
}

void ag_array_sites_begin(struct ag_exact *exact)
{
	exact->first_array_site = __atomic_load_n(&last_array_site, __ATOMIC_RELAXED) + 1;
}

const struct ag_array_site *ag_array_site_of(const struct ag_exact *exact, jint number)
{
	uint32_t i = (uint32_t)number - exact->first_array_site;
	const struct ag_array_site *chunk;

	if (number <= 0 || i >= AG_ARRAY_SITE_CHUNK * AG_ARRAY_SITE_CHUNKS)
		return NULL;
	chunk = __atomic_load_n(&exact->array_sites[i / AG_ARRAY_SITE_CHUNK], __ATOMIC_ACQUIRE);
	return chunk ? &chunk[i % AG_ARRAY_SITE_CHUNK] : NULL;
}

static bool is_clone(const struct ag_alloc_profile *profile, jmethodID method)
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

/*
 * Returns true if the class itself declares clone().  Does not use GetMethodID, which waits if
 * another thread is initialising the class.
 */
static bool declares_clone(const struct ag_alloc_profile *profile, jclass class)
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

/* Returns true if the class has this internal name, such as "p/A". */
static bool is_named(const struct ag_alloc_profile *profile, jclass class, const char *name)
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
 * Returns true if a call of clone() on an object of this class ran Object.clone().  This is so if
 * - the class that the call names as `owner` is the object's class or one of its superclasses, and
 * - none of the classes in which the call looks for clone() overrides it: for invokevirtual, the
 *   object's class and its superclasses; for invokespecial, `owner` and its superclasses.
 */
static bool selects_object(const struct ag_alloc_profile *profile, JNIEnv *jni,
			   const struct ag_array_site *array_site, jclass class)
{
	bool owned = false, overridden = false;
	jclass at = (*jni)->NewLocalRef(jni, class);

	while (at && !overridden) {
		jclass super = (*jni)->GetSuperclass(jni, at);

		owned |= is_named(profile, at, array_site->owner);
		if (super && (owned || array_site->kind == AG_ARRAY_SITE_CLONE))
			overridden = declares_clone(profile, at);
		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
	if (at)
		(*jni)->DeleteLocalRef(jni, at);
	return owned && !overridden;
}

bool ag_array_site_cloned(const struct ag_alloc_profile *profile, JNIEnv *jni,
			  const struct ag_array_site *array_site, jclass class,
			  const char *signature)
{
	if (!array_site->owner)
		return true;
	if (signature[0] == '[') /* early compilers name Object as owner of an array's clone() */
		return array_site->owner[0] == '[' ||
		       strcmp(array_site->owner, "java/lang/Object") == 0;
	return array_site->owner[0] != '[' && selects_object(profile, jni, array_site, class);
}
