/*
 * Sums of calls by method: count, duration, and a histogram (wire/log_histogram.h).
 *
 * Hooks add to the sums without waiting.  Each method has one row for each shard of threads, so
 * that threads do not share cache lines.  A histogram has chunks only for the powers of two that
 * occur.  The memory of the chunks is allocated when the trace begins.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_SUMS_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_SUMS_H

#include "jvm/trace/trace.h"
#include "wire/log_histogram.h"

#define AG_SUMS_OCTAVES (HISTOGRAM_BUCKETS >> HISTOGRAM_SUB_BITS)

struct ag_sums_chunk {
	uint32_t buckets[1 << HISTOGRAM_SUB_BITS];
};

struct ag_sums_row {
	uint64_t ns, longest;
	uint64_t shortest; /* complement of the shortest duration; 0: none */
	uint64_t octaves;  /* a bit for each octave (power of two) that has a chunk */
	uint64_t threw;
	uint32_t chunks[AG_SUMS_OCTAVES]; /* index of each octave's chunk; 0: none */
} __attribute__((aligned(64)));

struct ag_sums {
	struct ag_sums_row *rows; /* the rows of all shards for method 0, then for method 1, … */
	struct ag_sums_chunk *chunks;
	void *rows_block, *chunks_block;
	uint32_t n_methods, n_chunks, next;
	unsigned shard_bits;
};

/* Allocates the sums.  Returns 0, or -1 with the error recorded. */
int ag_sums_init(struct ag_jvm *jvm, struct ag_sums *sums, uint32_t n_methods);
void ag_sums_release(struct ag_jvm *jvm, struct ag_sums *sums);

/* Adds a call.  Returns false if there is no room for a chunk. */
bool ag_sums_add(struct ag_sums *sums, const JNIEnv *jni, uint32_t method, uint64_t ns, bool threw);

bool ag_sums_take(struct ag_sums *sums, uint32_t method, struct ag_sum *sum);

#endif
