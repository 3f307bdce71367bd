/*
 * Checks the size of the merged constant pool.  To redefine a class, HotSpot merges two pools: it
 * takes all constants of the running class, and appends the constants that only the new class has
 * (VM_RedefineClasses::merge_constant_pools).
 */
#include "base/xalloc.h"
#include "model/redefine/redefinition_limits.h"

#define POOL_MAX 65535

/*
 * Returns the FNV-1a hash.  A collision does little harm, because the computed size of the merged
 * pool is only an estimate.
 */
static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ at[i]) * 0x100000001b3;
	return h;
}

static uint64_t hash_text(uint64_t h, struct cf_text text)
{
	return hash(hash(h, &text.len, sizeof(text.len)), text.data, text.len);
}

static uint64_t hash_name_and_type(uint64_t h, const struct cf_pool *pool, const uint8_t *content)
{
	h = hash_text(h, cf_utf8(pool, cf_peek_u2(content)));
	return hash_text(h, cf_utf8(pool, cf_peek_u2(content + 2)));
}

static uint64_t hash_ref(uint64_t h, const struct cf_pool *pool, uint16_t index)
{
	struct cf_ref ref;

	if (!cf_ref(pool, index, &ref))
		return h;
	h = hash_text(hash(h, &ref.bootstrap, sizeof(ref.bootstrap)), ref.class);
	return hash_text(hash_text(h, ref.name), ref.descriptor);
}

/* Returns a hash of a constant's value.  The hash does not depend on the constant's index. */
static uint64_t hash_constant(const struct cf_pool *pool, uint16_t index)
{
	uint8_t tag = cf_tag(pool, index);
	const uint8_t *content = cf_constant(pool, index, tag);
	uint64_t h = hash(0xcbf29ce484222325, &tag, 1);

	switch (tag) {
	case CF_UTF8:
		return hash_text(h, cf_utf8(pool, index));
	case CF_INTEGER:
	case CF_FLOAT:
		return hash(h, content, 4);
	case CF_LONG:
	case CF_DOUBLE:
		return hash(h, content, 8);
	case CF_NAME_AND_TYPE:
		return hash_name_and_type(h, pool, content);
	case CF_METHOD_HANDLE:
		return hash_ref(hash(h, content, 1), pool, cf_peek_u2(content + 1));
	case CF_FIELD:
	case CF_METHOD:
	case CF_INTERFACE_METHOD:
	case CF_DYNAMIC:
	case CF_INVOKE_DYNAMIC:
		return hash_ref(h, pool, index);
	default:
		return hash_text(h, cf_named(pool, index, tag));
	}
}

/*
 * Returns true if a constant is a NaN.  For ConstantPool::compare_entry_to() a NaN equals no
 * constant, not even itself, so HotSpot appends every NaN of the new class.
 */
static bool is_nan(const struct cf_pool *pool, uint16_t index)
{
	const uint8_t *content = cf_constant(pool, index, CF_FLOAT);

	if (content)
		return (cf_peek_u4(content) & 0x7fffffff) > 0x7f800000;
	content = cf_constant(pool, index, CF_DOUBLE);
	if (!content)
		return false;
	return ((uint64_t)(cf_peek_u4(content) & 0x7fffffff) << 32 | cf_peek_u4(content + 4)) >
	       0x7ff0000000000000;
}

static int hash_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t count_new(const struct cf_pool *running, const struct cf_pool *new)
{
	_cleanup_free_ uint64_t *known = xcalloc((size_t)running->count + 1, sizeof(*known));
	size_t n = 0, n_new = 0;

	for (uint32_t i = 1; i < running->count; i++) {
		if (cf_tag(running, (uint16_t)i))
			known[n++] = hash_constant(running, (uint16_t)i);
	}
	qsort(known, n, sizeof(*known), hash_compare);
	for (uint32_t i = 1; i < new->count; i++) {
		uint8_t tag = cf_tag(new, (uint16_t)i);
		uint64_t h = hash_constant(new, (uint16_t)i);

		if (tag && (is_nan(new, (uint16_t)i) ||
			    !bsearch(&h, known, n, sizeof(*known), hash_compare)))
			n_new += tag == CF_LONG || tag == CF_DOUBLE ? 2 : 1;
	}
	return n_new;
}

/*
 * Returns how many pool entries the NaNs take.  When a patch is restored, HotSpot appends these
 * entries to the pool once more, so the pool must have room for them.
 */
static size_t count_nans(const struct cf_pool *pool)
{
	size_t n = 0;

	for (uint32_t i = 1; i < pool->count; i++) {
		if (is_nan(pool, (uint16_t)i))
			n += cf_tag(pool, (uint16_t)i) == CF_DOUBLE ? 2 : 1;
	}
	return n;
}

/*
 * Refuses the redefinition, on every JDK, if the merged pool would be too large.  Without this
 * check:
 * - JDK 8 to 17 would accept the pool, and run code whose pool indexes are cut to 16 bits;
 * - the updates of JDK 21 that have JDK-8311076 would print a warning, and use only the constants
 *   of the new class;
 * - JDK 25 and 27 would refuse the redefinition themselves, but only after many seconds.
 */
void limits_pool(struct limits *l)
{
	size_t n = l->jvm->pool_count > l->running->pool.count ? l->jvm->pool_count :
								  l->running->pool.count;

	limits_begin(l);
	n += 2 * count_nans(&l->running->pool);
	if (n + l->new->pool.count <= POOL_MAX)
		return;
	n += count_new(&l->running->pool, &l->new->pool);
	if (n <= POOL_MAX)
		return;
	buf_addf(&l->line, "the merged constant pool of both classes would have about %zu entries; "
			   "the limit is %d", n, POOL_MAX);
	limits_report(l, LIMIT_INTERNAL);
}
