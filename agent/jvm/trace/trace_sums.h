/*
 * Sums of calls by method, while they are made: how many, how long, and a histogram (wire/sums.h).
 *
 * Hooks add to them and wait for nobody.  There are several of each method, so that threads do
 * not wait for each other's cache lines.  A histogram has room for those powers of two only that
 * came up, a chunk each, from a store that was set aside at the beginning.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_SUMS_H
#define JTOOL_AGENT_JVM_TRACE_SUMS_H

#include "jvm/trace.h"
#include "wire/sums.h"

#define AG_SUMS_OCTAVES (SUMS_BUCKETS >> SUMS_SUB_BITS)

struct ag_sums_chunk {
	uint32_t buckets[1 << SUMS_SUB_BITS];
};

struct ag_sums_row {
	uint64_t ns, longest;
	uint64_t shortest; /* its complement: nothing yet is 0, and the greatest counts */
	uint64_t octaves;  /* a bit for each that has a chunk */
	uint64_t threw;
	uint32_t chunks[AG_SUMS_OCTAVES]; /* 0: none */
} __attribute__((aligned(64)));

struct ag_sums {
	struct ag_sums_row *rows; /* of a method all shards, then the next one's */
	struct ag_sums_chunk *chunks;
	void *rows_block, *chunks_block;
	uint32_t n_methods, n_chunks, next;
	unsigned shard_bits;
};

/* -1: no memory; recorded. */
int ag_sums_init(struct ag_jvm *jvm, struct ag_sums *sums, uint32_t n_methods);
void ag_sums_release(struct ag_jvm *jvm, struct ag_sums *sums);

/* Add a call; false: there is no room for it. */
bool ag_sums_add(struct ag_sums *sums, const JNIEnv *jni, uint32_t method, uint64_t ns, bool threw);

bool ag_sums_take(struct ag_sums *sums, uint32_t method, struct ag_sum *sum);

#endif
