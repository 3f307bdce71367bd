/* Optimised for speed, because application threads call these functions. */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/alloc/alloc_sites.h"

/*
 * The table of sites gets one hash slot for every SITE_BYTES bytes of the arena.  A site with 20
 * frames takes 256 bytes of the arena, so usually the arena is full before the table is.
 */
#define SITE_BYTES 128u

struct site {
	struct ag_item item;
	/* Accessed atomically: */
	uint64_t objects_256, bytes, samples, live_objects_256, live_bytes;
	uint32_t kind, n;
	uint64_t methods[]; /* jmethodIDs of the frames, then their bytecode indexes as uint16_t */
};

struct key {
	uint32_t kind, n;
	const jvmtiFrameInfo *frames;
};

static uint64_t method_of(const jvmtiFrameInfo *frame)
{
	return (uint64_t)(uintptr_t)frame->method;
}

/* 16 bits hold any bytecode index (JVMS 4.7.3); -1 in a native method becomes AG_NATIVE. */
static uint16_t bci_of(const jvmtiFrameInfo *frame)
{
	return (uint16_t)frame->location;
}

static const uint16_t *bcis_of(const struct site *site)
{
	return (const uint16_t *)(const void *)(site->methods + site->n);
}

static uint32_t hash_of(const struct key *key)
{
	/* The factors are 2^64 / golden ratio and an arbitrary odd number. */
	uint64_t hash = key->kind;

	for (uint32_t i = 0; i < key->n; i++) {
		const jvmtiFrameInfo *frame = &key->frames[i];

		hash ^= method_of(frame) + (uint64_t)bci_of(frame) * UINT64_C(0xd6e8feb86659fd93);
		hash *= UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

static bool is_same(const struct ag_item *item, const void *arg)
{
	const struct site *site = (const void *)item;
	const struct key *key = arg;
	const uint16_t *bcis = bcis_of(site);

	if (site->kind != key->kind || site->n != key->n)
		return false;
	for (uint32_t i = 0; i < site->n; i++) {
		if (site->methods[i] != method_of(&key->frames[i]) ||
		    bcis[i] != bci_of(&key->frames[i]))
			return false;
	}
	return true;
}

static struct ag_item *add(struct ag_sites *sites, const struct key *key, uint32_t hash)
{
	struct site *site;
	uint16_t *bcis;
	size_t size = sizeof(*site) +
		(size_t)key->n * (sizeof(*site->methods) + sizeof(*bcis));

	if (ag_table_full(&sites->table))
		return NULL;
	/* A site takes at least a cache line, to prevent false sharing. */
	site = ag_arena_take(sites->table.arena, size < 64 ? 64 : size);
	if (!site)
		return NULL;
	site->item.hash = hash;
	site->kind = key->kind;
	site->n = key->n;
	bcis = (uint16_t *)(void *)(site->methods + key->n);
	for (uint32_t i = 0; i < key->n; i++) {
		site->methods[i] = method_of(&key->frames[i]);
		bcis[i] = bci_of(&key->frames[i]);
	}
	return ag_table_add(&sites->table, &site->item, is_same, key);
}

int ag_sites_init(struct ag_sites *sites, struct ag_arena *arena)
{
	size_t n = arena->size / SITE_BYTES, most = UINT32_C(1) << AG_SITES_BITS;

	return ag_table_init(&sites->table, arena, (uint32_t)(n < most ? n : most));
}

uint32_t ag_sites_find(struct ag_sites *sites, uint32_t kind, const jvmtiFrameInfo *frames,
		       uint32_t n)
{
	const struct key key = { kind, n, frames };
	uint32_t hash = hash_of(&key);
	struct ag_item *item = ag_table_find(&sites->table, hash, is_same, &key);

	if (!item)
		item = add(sites, &key, hash);
	return item ? ag_table_number(&sites->table, item) : AG_SITE_NONE;
}

static struct site *site_at(const struct ag_sites *sites, uint32_t i)
{
	return (struct site *)(void *)ag_table_get(&sites->table, i);
}

static void count(uint64_t *counter, uint64_t n)
{
	(void)__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static uint64_t value(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void ag_sites_add(struct ag_sites *sites, uint32_t i, uint64_t objects_256, uint64_t bytes,
		  uint64_t samples)
{
	struct site *site = site_at(sites, i);

	if (!site)
		return;
	count(&site->objects_256, objects_256);
	count(&site->bytes, bytes);
	count(&site->samples, samples);
}

void ag_sites_add_live(struct ag_sites *sites, uint32_t i, uint64_t objects_256, uint64_t bytes)
{
	struct site *site = site_at(sites, i);

	if (!site)
		return;
	count(&site->live_objects_256, objects_256);
	count(&site->live_bytes, bytes);
}

void ag_sites_forget_live(struct ag_sites *sites)
{
	for (uint32_t i = ag_sites_count(sites); i > 0; i--) {
		struct site *site = site_at(sites, i - 1);

		__atomic_store_n(&site->live_objects_256, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&site->live_bytes, 0, __ATOMIC_RELAXED);
	}
}

static uint64_t round_objects(uint64_t objects_256)
{
	return (objects_256 + 128) / 256;
}

bool ag_sites_get(const struct ag_sites *sites, uint32_t i, struct ag_alloc_site *out)
{
	const struct site *site = site_at(sites, i);

	if (!site)
		return false;
	*out = (struct ag_alloc_site){
		.kind = site->kind,
		.objects = round_objects(value(&site->objects_256)),
		.bytes = value(&site->bytes),
		.samples = value(&site->samples),
		.live_objects = round_objects(value(&site->live_objects_256)),
		.live_bytes = value(&site->live_bytes),
		.methods = site->methods,
		.bcis = bcis_of(site),
		.n_frames = site->n,
	};
	return true;
}
