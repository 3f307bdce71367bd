#include "jvm/instrument/quiesce.h"

#include <poll.h>

bool ag_quiesce_is_busy(struct ag_quiesce_words words)
{
	const uint64_t *word = words.first;

#ifdef __aarch64__
	/*
	 * The proof in quiesce.h needs no fence here.  QEMU does: on x86-64 it emulates stlr and
	 * ldar, which are sequentially consistent, without a barrier between them.
	 */
	__sync_synchronize();
#endif
	for (uint32_t i = 0; i < words.n; i++) {
		if (__atomic_load_n(word, __ATOMIC_SEQ_CST) << (64 - AG_IN_FLIGHT_BITS) != 0)
			return true;
		word = (const void *)((const char *)word + words.stride);
	}
	return false;
}

bool ag_quiesce_wait(struct ag_quiesce_words words, JNIEnv *own, int ms)
{
	for (; ag_quiesce_is_busy(words); ms--) {
		if (ms <= 0)
			return false;
		(void)poll(NULL, 0, 1);
		(void)(*own)->ExceptionCheck(own);
	}
	return true;
}

bool ag_quiesce_claim(uint32_t *taken, struct ag_quiesce_words words)
{
	uint32_t was = 0;

	if (!__atomic_compare_exchange_n(taken, &was, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	if (!ag_quiesce_is_busy(words))
		return true;
	ag_quiesce_release(taken);
	return false;
}

void ag_quiesce_release(uint32_t *taken)
{
	__atomic_store_n(taken, 0, __ATOMIC_RELEASE);
}
