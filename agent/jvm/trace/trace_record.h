/* The record of a call.  Hooks fill it (trace_calls.c); the session's thread reports the call. */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_RECORD_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_RECORD_H

#include "jvm/trace/trace_calls.h"

#define AG_RECORD_BITS 12     /* number of bits of a record's index in its pool */
#define AG_GENERATION_BITS 19
#define AG_LOW(bits) ((UINT64_C(1) << (bits)) - 1)
#define AG_THREAD_ROOM 128u   /* bytes for the thread's name, with the NUL */

enum ag_record_kind {
	AG_RECORD_UNUSED,
	AG_RECORD_OPEN, /* the call has not ended */
	AG_RECORD_BUSY, /* a hook reads or writes the record */
	AG_RECORD_DONE, /* the call has ended, and the session must report it */
};

/* The call's arguments, its result and its stack frames are in the memory after this struct. */
struct ag_record {
	uint64_t state; /* generation << 2 | enum ag_record_kind */
	int64_t began_ns, ended_ns;
	int64_t hooks_ns; /* time in the hooks for entry and arguments, which run before began_ns */
	uint64_t thread_id;
	uint32_t method, n_args; /* index of the method; number of arguments recorded so far */
	uint32_t args_len, result_len, n_frames;
	bool threw, cut; /* cut: an argument did not fit, so no further argument is recorded */
	char thread[AG_THREAD_ROOM];
};

static inline struct ag_record *ag_record_at(const struct ag_pool *pool, uint32_t i)
{
	return (struct ag_record *)(void *)(pool->records + (size_t)i * pool->stride);
}

static inline uint8_t *ag_record_args(struct ag_record *r)
{
	return (uint8_t *)(r + 1);
}

static inline uint8_t *ag_record_result(const struct ag_pool *pool, struct ag_record *r)
{
	return ag_record_args(r) + pool->args_room;
}

static inline jvmtiFrameInfo *ag_record_frames(const struct ag_pool *pool, struct ag_record *r)
{
	return (jvmtiFrameInfo *)(void *)(ag_record_result(pool, r) + pool->result_room);
}

static inline void ag_record_set(struct ag_record *r, uint64_t generation,
				 enum ag_record_kind kind)
{
	__atomic_store_n(&r->state, (generation & AG_LOW(AG_GENERATION_BITS)) << 2 | kind,
			 __ATOMIC_RELEASE);
}

static inline uint64_t ag_record_generation(struct ag_record *r)
{
	return __atomic_load_n(&r->state, __ATOMIC_RELAXED) >> 2;
}

static inline void ag_record_give_back(struct ag_pool *pool, struct ag_record *r)
{
	uint32_t i = (uint32_t)((size_t)((uint8_t *)r - pool->records) / pool->stride);

	ag_record_set(r, ag_record_generation(r), AG_RECORD_UNUSED);
	(void)__atomic_fetch_or(&pool->unused[i / 64], UINT64_C(1) << i % 64, __ATOMIC_RELEASE);
}

#endif
