/*
 * Runs up to three threads in every order that the C11 memory model permits, and checks their
 * invariants.
 *
 * The threads are coroutines, which change only at atomic operations.  Each location has a history
 * of stores.  A load may return every store that coherence and happens-before do not exclude; a
 * store may be placed before stores that its thread has not seen.  The model is the view-based one
 * of the promising semantics (Kang et al., POPL 2017) without promises: a load never returns a
 * store that is executed later.  Accesses with seq_cst follow C++20.
 *
 * The compiler's instrumentation for ThreadSanitizer reports all other accesses to the explorer
 * (race.c).  Two of them without happens-before, one of which is a store, are a data race.
 *
 * A search is exhaustive: an order is abandoned only if it leads to a state that an earlier order
 * reached.  The tests then run again for each part of a memory order: with acquire, release, or
 * seq_cst removed from one site.  One of these searches must find a violation, unless the program
 * lists that part with a reason; and all sites must run.  So a test cannot lose its power, and no
 * barrier is in the agent without need.
 */
#ifndef JTOOL_TESTS_AGENT_WEAK_H
#define JTOOL_TESTS_AGENT_WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEAK_THREADS 3

struct weak_test {
	const char *name;
	void (*threads[WEAK_THREADS])(void); /* NULL: fewer threads */
	void (*begin)(void); /* before the threads; may be NULL */
	void (*end)(void);   /* after all threads, and happens after them; may be NULL */
};

/* `site`: a part of a memory order that no test needs, as printed, or a site that no test runs. */
struct weak_excuse {
	const char *site, *reason;
};

/*
 * Runs tests until one fails; returns the exit status of the program.  Both arrays end with an
 * element of NULLs.  If WEAK_VERBOSE is set, prints each weakened site and how its test fails.
 */
int weak_run(const struct weak_test *tests, const struct weak_excuse *excuses);

/* Ends the search with a violation if `condition` is false. */
#define WEAK_CHECK(condition) weak_check((condition), #condition, __FILE__, __LINE__)
void weak_check(bool condition, const char *text, const char *file, int line);

/* Abandons the current order, because it does not matter for the test. */
void weak_abandon(void) __attribute__((noreturn));

/* Returns a number below n.  The search tries each of these numbers. */
unsigned weak_choose(unsigned n);

/* Returns the number of the running thread, from 1 on; 0 in begin() and end(). */
unsigned weak_self(void);

/*
 * For data races: a store to, or a load of, `size` bytes that the compiler does not instrument, for
 * example free() or a call into the JVM.
 */
void weak_plain_store(const void *p, size_t size);
void weak_plain_load(const void *p, size_t size);

#endif
