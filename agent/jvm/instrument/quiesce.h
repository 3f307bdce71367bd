/*
 * Quiescence: how an owner that ends detects that no callback uses it any more.
 *
 * A callback (a hook, a JVMTI event) runs on any thread at any time and never waits.  An owner is
 * the object that callbacks use: a trace, a profile, the instrumentation of classes.  Callbacks and
 * owners communicate through two kinds of machine words, which are never freed:
 * - A callback announces itself in an in-flight word: a counter that a shard (a subset) of the
 *   threads shares, or a flag of one thread.
 * - A callback finds the owner through the owner's word: a pointer or a range of ids; 0 when there
 *   is no owner.
 *
 *	callback                                owner
 *	  enter: announce itself                  withdraw: set the owner's word to 0
 *	  look: read the owner's word             wait: until no word announces a callback
 *	  use the owner, unless it is gone        free the memory that callbacks use
 *	  leave: revoke the announcement
 *
 * Before it enters, a callback reads the owner's word a first time, and does not enter if there is
 * no owner.  Otherwise a steady stream of callbacks would keep the in-flight words busy.
 *
 * Proof.  enter (a read-modify-write), look, withdraw and the reads of wait are sequentially
 * consistent: they have one total order, which agrees with the modification order of each word, and
 * in which enter precedes look and withdraw precedes each read.  If the owner's read of the
 * callback's in-flight word precedes enter, withdraw precedes look, and the callback finds no
 * owner.  If that read comes after enter and before leave, it returns the announcement.  So a
 * callback uses the owner only while wait sees the announcement, and one pass over the words is
 * enough.
 *
 * leave is a release and the owner's read an acquire, so the callback's actions happen before the
 * owner's actions after wait.  This holds for every callback that uses a word: a counter changes
 * only by read-modify-writes, which continue the release sequences of all earlier leaves; the next
 * enter of a flag acquires the preceding leave.
 *
 * An owner with several words withdraws all of them before it waits.  A word can get a new owner as
 * soon as the former owner is withdrawn; a callback that finds the new owner uses the new owner.
 */
#ifndef JTOOL_AGENT_JVM_INSTRUMENT_QUIESCE_H
#define JTOOL_AGENT_JVM_INSTRUMENT_QUIESCE_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AG_CACHE_LINE 64 /* bytes */

/*
 * Returns the number of a thread's shard, below 2^bits: a hash of the address of the thread's
 * JNIEnv.  The hash omits the low 8 bits, in which these addresses differ too little.
 */
static inline uint32_t ag_thread_shard(const JNIEnv *jni, unsigned bits)
{
	/*
	 * The factor is 2^64 / golden ratio.  There are two shifts, because bits may be 0, and one
	 * shift by 64 is undefined.
	 */
	return (uint32_t)(((uintptr_t)jni >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> 32 >>
			  (32 - bits));
}
#define AG_SHARD_BITS 4
#define AG_SHARDS (1u << AG_SHARD_BITS)

/* The low AG_IN_FLIGHT_BITS bits of a counter count callbacks; the owner may use the high bits. */
#define AG_IN_FLIGHT_BITS 20

/* The in-flight word of a shard of threads, in its own cache line to avoid false sharing. */
struct ag_quiesce_shard {
	uint64_t word;
} __attribute__((aligned(AG_CACHE_LINE)));

/* For callbacks: reads the owner's word. */
#define AG_QUIESCE_LOOK(owner) __atomic_load_n((owner), __ATOMIC_SEQ_CST)
/* Sets the owner's word.  0 or NULL withdraws the owner; another value publishes an owner. */
#define AG_QUIESCE_SET(owner, value) __atomic_store_n((owner), (value), __ATOMIC_SEQ_CST)

/* Announces a callback in a counter.  A nested callback and the outer one are both counted. */
static inline void ag_quiesce_enter(uint64_t *word)
{
	(void)__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
}

/* Revokes the announcement, and adds n to the counter's high bits, which the owner uses. */
static inline void ag_quiesce_leave_adding(uint64_t *word, uint64_t n)
{
	(void)__atomic_fetch_add(word, (n << AG_IN_FLIGHT_BITS) - 1, __ATOMIC_RELEASE);
}

static inline void ag_quiesce_leave(uint64_t *word)
{
	ag_quiesce_leave_adding(word, 0);
}

/*
 * Sets a thread's flag.  Returns false if the flag was set already.  In this case an outer callback
 * has set it, so the caller must not clear it with ag_quiesce_leave_thread().
 */
static inline bool ag_quiesce_enter_thread(uint64_t *word)
{
	return __atomic_exchange_n(word, 1, __ATOMIC_SEQ_CST) == 0;
}

static inline void ag_quiesce_leave_thread(uint64_t *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* The in-flight words of all callbacks of an owner: n words, `stride` bytes apart. */
struct ag_quiesce_words {
	const uint64_t *first;
	size_t stride; /* bytes */
	uint32_t n;
};
/* Makes the ag_quiesce_words for an array of structs, each of which has one word: `member`. */
#define AG_QUIESCE_WORDS(array, member)                                           \
	((const struct ag_quiesce_words){ &(array)[0].member, sizeof((array)[0]), \
					  sizeof(array) / sizeof((array)[0]) })

bool ag_quiesce_is_busy(struct ag_quiesce_words words);

/*
 * Waits up to ms milliseconds until no callback is in flight; `own` is the current thread's JNIEnv.
 * Returns false if a callback still is in flight, for example because a debugger suspended its
 * thread.  The owner must then never free the memory that callbacks use.
 *
 * Waits in steps of one millisecond.  Each step ends with a JNI call, which does not return during
 * a safepoint.  So the time in safepoints, in which callbacks make no progress, does not count
 * towards ms.
 */
bool ag_quiesce_wait(struct ag_quiesce_words words, JNIEnv *own, int ms);

/*
 * Claims a slot for an owner.  Returns false if the slot is taken, or if a callback of an earlier
 * owner of the slot is still in flight.
 */
bool ag_quiesce_claim(uint32_t *taken, struct ag_quiesce_words words);
void ag_quiesce_release(uint32_t *taken);

#endif
