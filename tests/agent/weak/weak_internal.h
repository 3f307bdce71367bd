/* Declarations that the parts of the explorer share: explore.c, memory.c, race.c, weaken.c. */
#ifndef JTOOL_TESTS_AGENT_WEAK_INTERNAL_H
#define JTOOL_TESTS_AGENT_WEAK_INTERNAL_H

#include "agent/weak/weak.h"
#include "agent/weak/weak_atomic.h"

#define ALL_THREADS (WEAK_THREADS + 1) /* thread 0 runs begin() and end() */
#define LOCATIONS_MAX 48u
#define MESSAGES_MAX 1024u
#define EVENTS_MAX 1000u

/* The knowledge of a thread, or the knowledge that a store passes to its reader. */
struct view {
	uint16_t at[LOCATIONS_MAX];   /* the oldest store that may be read; 0: any */
	uint16_t clock[ALL_THREADS];  /* happens-before: the events of each thread */
};

/* explore.c */
unsigned weak_pick(unsigned n);             /* returns the current order's choice, below n */
/*
 * Lets other threads run before an operation at p; NULL: a fence or a wait.  Returns false if no
 * other thread can see the operation: the caller then accesses memory directly.
 */
bool weak_schedule(const void *p, bool stores);
void weak_violation(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void weak_note(const struct weak_site *site); /* records that the current test runs it */
void weak_trace(const struct weak_site *site, uint64_t value, bool stored);
bool weak_is_exploring(void);
bool weak_is_stack(const void *p);
uint64_t weak_mix(uint64_t hash, uint64_t value);
/* Runs test n in all orders.  Returns false if one violates an invariant. */
bool weak_search(const struct weak_test *tests, unsigned n);
const char *weak_summary(void);
const char *weak_what(void); /* returns the text of the last violation */
void weak_print_order(void);

/* weaken.c */
int weak_order(const struct weak_site *site, bool failed); /* returns its order, weakened or not */

/* memory.c */
void weak_memory_reset(void);
void weak_memory_fork(void); /* all threads begin after thread 0 */
void weak_memory_join(void); /* thread 0 continues after all threads */
void weak_memory_overwritten(const void *p, size_t size); /* by a store that is not atomic */
void weak_memory_catch_up(void); /* coherence: the running thread sees the last stores */
uint64_t weak_memory_hash(void);
void weak_memory_hash_choice(uint64_t value);
const uint16_t *weak_clock(void); /* of the running thread */

/* race.c */
enum weak_access { WEAK_PLAIN_LOAD, WEAK_PLAIN_STORE, WEAK_ATOMIC_LOAD, WEAK_ATOMIC_STORE };
void weak_race_reset(void); /* forgets all accesses, and restores the memory */
void weak_access(const void *p, size_t size, enum weak_access kind);

#endif
