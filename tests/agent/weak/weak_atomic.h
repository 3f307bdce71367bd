/*
 * Replaces the __atomic builtins by calls into the explorer (weak.h).  The compiler includes this
 * file before each source file of the tests in this folder, and so before the agent's sources that
 * they test.  Each use of a builtin is a site, whose memory order the explorer can weaken.
 */
#ifndef JTOOL_TESTS_AGENT_WEAK_ATOMIC_H
#define JTOOL_TESTS_AGENT_WEAK_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weak_rmw { WEAK_EXCHANGE, WEAK_ADD, WEAK_SUB, WEAK_OR, WEAK_AND };

/* `failed` is the order of a compare-and-exchange that fails; else equal to `order`. */
struct weak_site {
	const char *file, *function, *what;
	int line, order, failed;
	uint64_t *tests; /* a bit for each test that runs it */
};

uint64_t weak_load(const struct weak_site *site, const void *p, size_t size);
void weak_store(const struct weak_site *site, void *p, size_t size, uint64_t value);
uint64_t weak_rmw(const struct weak_site *site, void *p, size_t size, enum weak_rmw op,
		  uint64_t operand);
bool weak_compare(const struct weak_site *site, void *p, size_t size, void *expected,
		  uint64_t desired);
void weak_fence(const struct weak_site *site);

/* Declares `weak_site_here`.  The section lists all sites of a program, also those never run. */
#define WEAK_SITE(what_, order_, failed_)                                                  \
	static uint64_t weak_site_tests;                                                   \
	static const struct weak_site weak_site_here = { __FILE__, __func__, what_,        \
		__LINE__, order_, failed_, &weak_site_tests };                           \
	static const struct weak_site *const weak_site_listed                              \
		__attribute__((section("weak_sites"), used)) = &weak_site_here

/* The 64 bits that hold a value of any type of at most 8 bytes.  For little-endian processors. */
#define WEAK_BITS(type, v)                                             \
	__extension__({                                                \
		type weak_value = (v);                                 \
		uint64_t weak_bits = 0;                                \
		__builtin_memcpy(&weak_bits, &weak_value, sizeof(type)); \
		weak_bits;                                             \
	})
#define WEAK_VALUE(type, bits)                                            \
	__extension__({                                                   \
		union { uint64_t bits_; type value_; } weak_u = { bits }; \
		weak_u.value_;                                            \
	})

#define __atomic_load_n(p, o)                                                           \
	__extension__({                                                                 \
		WEAK_SITE("load " #p, o, o);                                            \
		WEAK_VALUE(__typeof__(*(p)), weak_load(&weak_site_here, (p), sizeof(*(p)))); \
	})
#define __atomic_store_n(p, v, o)                                    \
	__extension__({                                              \
		WEAK_SITE("store " #p, o, o);                        \
		weak_store(&weak_site_here, (p), sizeof(*(p)),       \
			   WEAK_BITS(__typeof__(*(p)), v));          \
	})
#define WEAK_RMW(name, op, p, v, o)                                                     \
	__extension__({                                                                 \
		WEAK_SITE(name " " #p, o, o);                                           \
		WEAK_VALUE(__typeof__(*(p)), weak_rmw(&weak_site_here, (p), sizeof(*(p)), op, \
						      WEAK_BITS(__typeof__(*(p)), v))); \
	})
#define __atomic_exchange_n(p, v, o) WEAK_RMW("exchange", WEAK_EXCHANGE, p, v, o)
#define __atomic_fetch_add(p, v, o) WEAK_RMW("add", WEAK_ADD, p, v, o)
#define __atomic_fetch_sub(p, v, o) WEAK_RMW("sub", WEAK_SUB, p, v, o)
#define __atomic_fetch_or(p, v, o) WEAK_RMW("or", WEAK_OR, p, v, o)
#define __atomic_fetch_and(p, v, o) WEAK_RMW("and", WEAK_AND, p, v, o)
#define __atomic_add_fetch(p, v, o) (WEAK_RMW("add", WEAK_ADD, p, v, o) + (v))
#define __atomic_sub_fetch(p, v, o) (WEAK_RMW("sub", WEAK_SUB, p, v, o) - (v))
#define __atomic_compare_exchange_n(p, e, d, w, o, f)                           \
	__extension__({                                                         \
		WEAK_SITE("compare " #p, o, f);                                 \
		(void)(w);                                                      \
		weak_compare(&weak_site_here, (p), sizeof(*(p)), (e),           \
			     WEAK_BITS(__typeof__(*(p)), d));                   \
	})
#define __atomic_thread_fence(o)          \
	__extension__({                   \
		WEAK_SITE("fence", o, o); \
		weak_fence(&weak_site_here); \
	})

/* The fences for QEMU: the memory model does not need them, and the tests prove it. */
#define __sync_synchronize() ((void)0)

#endif
