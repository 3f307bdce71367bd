/*
 * Data races: each byte remembers when each thread last loaded and stored it, with and without an
 * atomic operation.  gcc and clang call the functions below for every load and store, if
 * -fsanitize=thread is given; the library of ThreadSanitizer, which has the same functions, is not
 * linked.  All stores are reverted before the next order.
 */
#include <string.h>

#include "agent/weak/weak_internal.h"

#define GRANULES 2048u
#define UNDO_MAX 16384u

/* last[kind][thread]: the thread's clock at its last access of this kind (enum weak_access). */
struct byte {
	uint16_t last[4][ALL_THREADS];
};

struct granule {
	uintptr_t address; /* divided by 8 */
	unsigned generation;
	struct byte bytes[8];
};

static struct {
	struct granule granules[GRANULES];
	unsigned generation, used;
	struct {
		void *p;
		uint64_t was;
		size_t size;
	} undo[UNDO_MAX];
	unsigned n_undo;
} race;

static struct granule *granule_of(uintptr_t address)
{
	unsigned i = (unsigned)(weak_mix(1, address) % GRANULES);
	struct granule *g;

	for (;; i = (i + 1) % GRANULES) {
		g = &race.granules[i];
		if (g->generation != race.generation)
			break;
		if (g->address == address)
			return g;
	}
	if (++race.used > GRANULES / 2)
		weak_violation("the threads use too much memory");
	memset(g, 0, sizeof(*g));
	g->address = address;
	g->generation = race.generation;
	return g;
}

/* Returns true if the two accesses are a data race unless the earlier one happens before `now`. */
static bool excludes(enum weak_access earlier, enum weak_access now)
{
	bool stores = earlier == WEAK_PLAIN_STORE || earlier == WEAK_ATOMIC_STORE ||
		now == WEAK_PLAIN_STORE || now == WEAK_ATOMIC_STORE;
	bool plain = earlier == WEAK_PLAIN_LOAD || earlier == WEAK_PLAIN_STORE ||
		now == WEAK_PLAIN_LOAD || now == WEAK_PLAIN_STORE;

	return stores && plain;
}

static void access_byte(struct byte *b, const char *p, enum weak_access kind)
{
	static const char *const names[] = { "load", "store", "atomic load", "atomic store" };
	const uint16_t *clock = weak_clock();

	for (unsigned k = 0; k < 4; k++) {
		for (unsigned i = 0; excludes(k, kind) && i < ALL_THREADS; i++) {
			if (i != weak_self() && b->last[k][i] > clock[i])
				weak_violation("data race at %p: %s by thread %u, %s by thread %u",
					       (const void *)p, names[k], i, names[kind],
					       weak_self());
		}
	}
	b->last[kind][weak_self()] = clock[weak_self()];
}

static void remember(void *p, size_t size)
{
	for (size_t done = 0; done < size; done += 8) {
		size_t n = size - done < 8 ? size - done : 8;

		if (race.n_undo == UNDO_MAX)
			weak_violation("the threads store too much");
		race.undo[race.n_undo].p = (char *)p + done;
		race.undo[race.n_undo].size = n;
		memcpy(&race.undo[race.n_undo++].was, (char *)p + done, n);
	}
}

void weak_access(const void *p, size_t size, enum weak_access kind)
{
	struct granule *g = NULL;

	if (!weak_is_exploring() || weak_is_stack(p))
		return;
	/* Thread 0 runs before and after all others. */
	for (size_t i = 0; i < size && weak_self() != 0; i++) {
		uintptr_t address = (uintptr_t)p + i;

		if (!g || address % 8 == 0)
			g = granule_of(address / 8);
		access_byte(&g->bytes[address % 8], (const char *)p + i, kind);
	}
	if (kind == WEAK_PLAIN_STORE || kind == WEAK_ATOMIC_STORE)
		remember((void *)(uintptr_t)p, size);
	if (kind == WEAK_PLAIN_STORE)
		weak_memory_overwritten(p, size);
}

void weak_race_reset(void)
{
	while (race.n_undo > 0) {
		race.n_undo--;
		memcpy(race.undo[race.n_undo].p, &race.undo[race.n_undo].was,
		       race.undo[race.n_undo].size);
	}
	race.generation++;
	race.used = 0;
}

void weak_plain_load(const void *p, size_t size)
{
	weak_access(p, size, WEAK_PLAIN_LOAD);
}

void weak_plain_store(const void *p, size_t size)
{
	weak_access(p, size, WEAK_PLAIN_STORE);
}

/* The functions that compilers call. */
#define INSTRUMENTED(n)                                                     \
	void __tsan_read##n(void *p);                                       \
	void __tsan_write##n(void *p);                                      \
	void __tsan_unaligned_read##n(void *p);                             \
	void __tsan_unaligned_write##n(void *p);                            \
	void __tsan_read##n(void *p) { weak_plain_load(p, n); }             \
	void __tsan_write##n(void *p) { weak_plain_store(p, n); }           \
	void __tsan_unaligned_read##n(void *p) { weak_plain_load(p, n); }   \
	void __tsan_unaligned_write##n(void *p) { weak_plain_store(p, n); }
INSTRUMENTED(1)
INSTRUMENTED(2)
INSTRUMENTED(4)
INSTRUMENTED(8)
INSTRUMENTED(16)

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_read_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memset(void *to, int value, size_t size);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(void *p, size_t size)
{
	weak_plain_load(p, size);
}

void __tsan_write_range(void *p, size_t size)
{
	weak_plain_store(p, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
	weak_plain_load(from, size);
	weak_plain_store(to, size);
	return memmove(to, from, size);
}

void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	return __tsan_memmove(to, from, size);
}

void *__tsan_memset(void *to, int value, size_t size)
{
	weak_plain_store(to, size);
	return memset(to, value, size);
}
