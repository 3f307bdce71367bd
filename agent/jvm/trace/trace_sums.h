/*
 * The sums of a trace for each method: the number of calls, their total duration, and a histogram
 * of the durations (wire/log_histogram.h).
 *
 * Hooks add to the sums without waiting.  Each method has one row for each shard of threads, so
 * that threads seldom share a cache line.  The histogram of a row consists of chunks, one for each
 * octave (power of two) that occurs among the durations.  The memory of all chunks is allocated
 * when the trace begins.
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
	uint64_t shortest; /* bitwise complement of the shortest duration; 0: no calls */
	uint64_t octaves;  /* a bit for each octave that has a chunk */
	uint64_t threw;
	uint32_t chunks[AG_SUMS_OCTAVES]; /* index of each octave's chunk; 0: none */
} __attribute__((aligned(64)));

struct ag_sums {
	struct ag_sums_row *rows; /* the rows of all shards for method 0, then for method 1, … */
	struct ag_sums_chunk *chunks;
	void *rows_block, *chunks_block; /* the allocations that contain `rows` and `chunks` */
	uint32_t n_methods, n_chunks, next; /* next: the lowest index of an unused chunk */
	unsigned shard_bits;
};

/* Allocates the sums.  Returns 0, or -1 with the error recorded. */
int ag_sums_init(struct ag_jvm *jvm, struct ag_sums *sums, uint32_t n_methods);
void ag_sums_release(struct ag_jvm *jvm, struct ag_sums *sums);

/*
 * In a hook: adds a call that took `ns` nanoseconds.  Returns false, and adds nothing, if the
 * method's row has no chunk for the octave of `ns` and no unused chunk is left.
 */
bool ag_sums_add(struct ag_sums *sums, const JNIEnv *jni, uint32_t method, uint64_t ns, bool threw);

/* Moves the sums of a method to *sum.  Returns false if no call was added since the last move. */
bool ag_sums_take(struct ag_sums *sums, uint32_t method, struct ag_sum *sum);

#endif
