/* Optimised for speed, because hooks call ag_sums_add() (trace_hooks.c). */
#ifndef __clang__ /* clang has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/trace/trace_sums.h"

#include "jvm/trace/trace_state.h"

/* Maximum bytes of rows and of chunks.  Pages that are never written take no memory. */
#define ROWS_ROOM ((size_t)8 << 20)
#define CHUNKS_ROOM ((size_t)16 << 20)

/*
 * Allocates n zeroed items of `size` bytes, which must be a multiple of AG_CACHE_LINE, and aligns
 * them to a cache line.  Stores in *block the pointer to free.
 */
static void *alloc_lines(struct ag_jvm *jvm, size_t n, size_t size, void **block)
{
	*block = ag_jvm_alloc(jvm, n * size + AG_CACHE_LINE, 1);
	if (!*block)
		return NULL;
	return (void *)(((uintptr_t)*block + AG_CACHE_LINE - 1) & ~(uintptr_t)(AG_CACHE_LINE - 1));
}

int ag_sums_init(struct ag_jvm *jvm, struct ag_sums *sums, uint32_t n_methods)
{
	size_t n_rows, n_chunks;

	*sums = (struct ag_sums){ .n_methods = n_methods, .shard_bits = AG_SHARD_BITS };
	while (sums->shard_bits > 0 &&
	       ((size_t)n_methods << sums->shard_bits) * sizeof(*sums->rows) > ROWS_ROOM)
		sums->shard_bits--;
	n_rows = (size_t)n_methods << sums->shard_bits;
	n_chunks = n_rows * AG_SUMS_OCTAVES;
	if (n_chunks > CHUNKS_ROOM / sizeof(*sums->chunks))
		n_chunks = CHUNKS_ROOM / sizeof(*sums->chunks);
	sums->rows = alloc_lines(jvm, n_rows, sizeof(*sums->rows), &sums->rows_block);
	sums->chunks = alloc_lines(jvm, n_chunks + 1, sizeof(*sums->chunks), &sums->chunks_block);
	if (!sums->rows || !sums->chunks) {
		ag_sums_release(jvm, sums);
		return -1;
	}
	sums->n_chunks = (uint32_t)n_chunks + 1;
	sums->next = 1; /* chunk 0 means none */
	return 0;
}

void ag_sums_release(struct ag_jvm *jvm, struct ag_sums *sums)
{
	ag_free(jvm->mem, sums->rows_block);
	ag_free(jvm->mem, sums->chunks_block);
	*sums = (struct ag_sums){ 0 };
}

/*
 * Returns the index of a new chunk for this octave of the row, or 0 if no chunk is left.  If
 * another thread adds a chunk for the octave at the same time, returns that thread's chunk; this
 * thread's chunk is then wasted.
 */
static __attribute__((noinline)) uint32_t new_chunk(struct ag_sums *sums, struct ag_sums_row *row,
						    uint32_t octave)
{
	uint32_t chunk, none = 0;

	if (__atomic_load_n(&sums->next, __ATOMIC_RELAXED) >= sums->n_chunks)
		return 0;
	chunk = __atomic_fetch_add(&sums->next, 1, __ATOMIC_RELAXED);
	if (chunk >= sums->n_chunks) {
		__atomic_store_n(&sums->next, sums->n_chunks, __ATOMIC_RELAXED);
		return 0;
	}
	if (!__atomic_compare_exchange_n(&row->chunks[octave], &none, chunk, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		chunk = none;
	(void)__atomic_fetch_or(&row->octaves, UINT64_C(1) << octave, __ATOMIC_RELAXED);
	return chunk;
}

static inline void raise_to(uint64_t *most, uint64_t value)
{
	uint64_t had = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (value > had && !__atomic_compare_exchange_n(most, &had, value, true,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/*
 * Increments the histogram's bucket after the other sums, because take_row() takes the other sums
 * only if it has found a bucket that is not 0.
 */
bool ag_sums_add(struct ag_sums *sums, const JNIEnv *jni, uint32_t method, uint64_t ns, bool threw)
{
	struct ag_sums_row *row = &sums->rows[((size_t)method << sums->shard_bits) +
					      ag_thread_shard(jni, sums->shard_bits)];
	uint32_t bucket = log_histogram_bucket(ns), octave = bucket >> HISTOGRAM_SUB_BITS;
	uint32_t chunk = __atomic_load_n(&row->chunks[octave], __ATOMIC_RELAXED);

	if (chunk == 0) {
		chunk = new_chunk(sums, row, octave);
		if (chunk == 0)
			return false;
	}
	ag_count(&row->ns, ns);
	raise_to(&row->longest, ns);
	raise_to(&row->shortest, ~ns);
	if (threw)
		ag_count(&row->threw, 1);
	(void)__atomic_fetch_add(
		&sums->chunks[chunk].buckets[bucket & ((1u << HISTOGRAM_SUB_BITS) - 1)], 1,
		__ATOMIC_RELEASE);
	return true;
}

static uint64_t take_chunk(struct ag_sums_chunk *chunk, uint64_t *to)
{
	uint64_t calls = 0;

	for (unsigned i = 0; i < 1u << HISTOGRAM_SUB_BITS; i++) {
		uint32_t n;

		if (__atomic_load_n(&chunk->buckets[i], __ATOMIC_RELAXED) == 0)
			continue;
		n = __atomic_exchange_n(&chunk->buckets[i], 0, __ATOMIC_ACQUIRE);
		to[i] += n;
		calls += n;
	}
	return calls;
}

/*
 * Adds a row to *sum and clears the row.  If a hook is adding a call at the same time, *sum may get
 * only some of the values of this call; the next drain gets the rest.
 */
static void take_row(struct ag_sums *sums, struct ag_sums_row *row, struct ag_sum *sum)
{
	uint64_t octaves = __atomic_load_n(&row->octaves, __ATOMIC_RELAXED), calls = 0, ns;

	for (; octaves != 0; octaves &= octaves - 1) {
		unsigned octave = (unsigned)__builtin_ctzll(octaves);
		uint32_t chunk = __atomic_load_n(&row->chunks[octave], __ATOMIC_RELAXED);

		calls += take_chunk(&sums->chunks[chunk],
				    &sum->buckets[octave << HISTOGRAM_SUB_BITS]);
	}
	if (calls == 0)
		return;
	sum->calls += calls;
	sum->ns += __atomic_exchange_n(&row->ns, 0, __ATOMIC_RELAXED);
	sum->threw += __atomic_exchange_n(&row->threw, 0, __ATOMIC_RELAXED);
	ns = __atomic_exchange_n(&row->longest, 0, __ATOMIC_RELAXED);
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	ns = ~__atomic_exchange_n(&row->shortest, 0, __ATOMIC_RELAXED);
	if (ns < sum->min_ns)
		sum->min_ns = ns;
}

bool ag_sums_take(struct ag_sums *sums, uint32_t method, struct ag_sum *sum)
{
	*sum = (struct ag_sum){ .min_ns = UINT64_MAX };
	for (uint32_t i = 0; i < 1u << sums->shard_bits; i++)
		take_row(sums, &sums->rows[((size_t)method << sums->shard_bits) + i], sum);
	return sum->calls > 0;
}
