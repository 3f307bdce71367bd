/* The search: chooses the thread that runs next, and the store that a load returns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <poll.h>
#include <time.h>
#include <ucontext.h>

#include "agent/weak/weak_internal.h"

#define STACK ((size_t)256 << 10)
#define DEPTH_MAX (4 * EVENTS_MAX)
#define STATES_BITS 17 /* log2 of the size of the table of states */
#define ADDRESSES_MAX 4096u
#define WAITS_MAX 2 /* the wait, from 1, that returns when all other threads have ended */

enum outcome { RUNNING, DONE, ABANDONED, VIOLATED };

/* `uses`: a bit for each thread that uses the address; `stores`: one of them stores to it. */
struct address {
	const void *p;
	unsigned uses;
	bool stores;
};

static struct {
	const struct weak_test *test;
	unsigned n_test; /* index of `test` */
	bool exploring;
	/* The choices of the current order, and the number of alternatives of each. */
	struct { uint16_t at, n; } choices[DEPTH_MAX];
	unsigned n_choices, depth;
	uint64_t states[1u << STATES_BITS];
	unsigned n_states;
	unsigned long orders;
	struct address addresses[ADDRESSES_MAX];
	unsigned n_addresses;
	bool restart;
	/* The coroutines. */
	ucontext_t contexts[ALL_THREADS], main_context;
	jmp_buf at[ALL_THREADS], main;
	bool begun[ALL_THREADS], ended[ALL_THREADS], waits[ALL_THREADS];
	unsigned n_waits[ALL_THREADS];
	char *stacks;
	unsigned self;
	enum outcome outcome;
	int64_t now_ns;
	struct { const struct weak_site *site; uint64_t value; unsigned thread; bool stored; }
		events[EVENTS_MAX];
	unsigned n_events;
	char violation[512];
} explorer;


uint64_t weak_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 29;
	hash *= UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 32;
}

bool weak_is_exploring(void)
{
	return explorer.exploring;
}

bool weak_is_stack(const void *p)
{
	return (const char *)p >= explorer.stacks &&
	       (const char *)p < explorer.stacks + ALL_THREADS * STACK;
}

unsigned weak_self(void)
{
	return explorer.self;
}

/* Ends the current order. */
static __attribute__((noreturn)) void leave(enum outcome outcome)
{
	explorer.outcome = outcome;
	_longjmp(explorer.main, 1);
}

void weak_violation(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(explorer.violation, sizeof(explorer.violation), format, args);
	va_end(args);
	leave(VIOLATED);
}

void weak_check(bool condition, const char *text, const char *file, int line)
{
	if (!condition)
		weak_violation("%s:%d: %s", file, line, text);
}

void weak_abandon(void)
{
	leave(ABANDONED);
}

unsigned weak_pick(unsigned n)
{
	if (n == 1)
		return 0;
	if (explorer.depth == explorer.n_choices) {
		if (explorer.depth == DEPTH_MAX)
			weak_violation("the threads do not end");
		explorer.choices[explorer.n_choices].at = 0;
		explorer.choices[explorer.n_choices++].n = (uint16_t)n;
	}
	return explorer.choices[explorer.depth++].at;
}

unsigned weak_choose(unsigned n)
{
	unsigned choice = weak_pick(n);

	weak_memory_hash_choice(choice);
	return choice;
}

/* Returns false if the state is in the table already. */
static bool add_state(uint64_t hash)
{
	uint64_t mask = (1u << STATES_BITS) - 1, i = hash & mask;

	hash |= 1; /* 0: unused */
	for (; explorer.states[i] != 0; i = (i + 1) & mask) {
		if (explorer.states[i] == hash)
			return false;
	}
	if (++explorer.n_states > mask / 2)
		weak_violation("too many states: make the test smaller");
	explorer.states[i] = hash;
	return true;
}

static unsigned next_thread(void)
{
	unsigned threads[ALL_THREADS], n = 0;

	if (explorer.self != 0 && !explorer.ended[explorer.self] && !explorer.waits[explorer.self])
		threads[n++] = explorer.self;
	for (unsigned i = 1; i < ALL_THREADS; i++) {
		if (i != explorer.self && !explorer.ended[i] && !explorer.waits[i])
			threads[n++] = i;
	}
	for (unsigned i = 1; n == 0 && i < ALL_THREADS; i++) {
		if (!explorer.ended[i]) {
			explorer.waits[i] = false;
			threads[n++] = i;
		}
	}
	return n == 0 ? 0 : threads[weak_pick(n)];
}

static void go(unsigned to)
{
	explorer.self = to;
	if (to == 0)
		_longjmp(explorer.main, 1);
	_longjmp(explorer.at[to], 1);
}

/* Lets any thread run; returns when the current thread is to run. */
static void choose_thread(void)
{
	unsigned to, self = explorer.self;

	if (explorer.depth == explorer.n_choices && !add_state(weak_memory_hash()))
		leave(ABANDONED);
	to = next_thread();
	if (to != self && _setjmp(explorer.at[self]) == 0)
		go(to);
}

/*
 * Returns true if several threads use an address, and one of them stores to it.  For other
 * addresses, the order of operations has no effect.  The first time that an address turns out to be
 * shared, returns false and requests a restart of the search.
 */
static bool is_shared(const void *p, bool stores)
{
	unsigned i = (unsigned)(weak_mix(0, (uintptr_t)p) % ADDRESSES_MAX);
	unsigned bit = 1u << explorer.self;
	struct address *a;
	bool was;

	for (;; i = (i + 1) % ADDRESSES_MAX) {
		a = &explorer.addresses[i];
		if (!a->p && ++explorer.n_addresses > ADDRESSES_MAX / 2)
			weak_violation("too many addresses");
		if (!a->p || a->p == p)
			break;
	}
	was = a->stores && (a->uses & (a->uses - 1)) != 0;
	a->p = p;
	a->uses |= bit;
	a->stores |= stores;
	explorer.restart |= !was && a->stores && (a->uses & (a->uses - 1)) != 0;
	return was;
}

/* The first operation of a thread waits until all threads have begun. */
static void begin(unsigned self)
{
	explorer.begun[self] = true;
	if (_setjmp(explorer.at[self]) == 0)
		_longjmp(explorer.main, 1);
}

bool weak_schedule(const void *p, bool stores)
{
	if (!explorer.exploring || explorer.self == 0 || (p && !is_shared(p, stores)))
		return false;
	if (explorer.begun[explorer.self])
		choose_thread();
	else
		begin(explorer.self);
	return true;
}

/*
 * Replaces poll(2), with which the agent waits.  A call may let other threads run; call WAITS_MAX
 * of a thread returns when all others have ended or wait, too; a further call abandons the order.
 */
int poll(struct pollfd *fds, nfds_t n, int ms)
{
	unsigned self = explorer.self;

	(void)fds, (void)n;
	explorer.now_ns += ms * INT64_C(1000000);
	if (!weak_schedule(NULL, false))
		return 0;
	if (++explorer.n_waits[self] > WAITS_MAX)
		weak_abandon();
	if (explorer.n_waits[self] == WAITS_MAX) {
		explorer.waits[self] = true;
		choose_thread();
		weak_memory_catch_up();
	}
	return 0;
}

/* Each thread has a time of its own, so that a test sees which thread has read the clock. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	t->tv_sec = 1000 + explorer.now_ns / 1000000000;
	t->tv_nsec = explorer.now_ns % 1000000000 + explorer.self;
	return 0;
}

void weak_note(const struct weak_site *site)
{
	*site->tests |= UINT64_C(1) << explorer.n_test;
}

void weak_trace(const struct weak_site *site, uint64_t value, bool stored)
{
	weak_note(site);
	if (explorer.n_events == EVENTS_MAX)
		weak_violation("too many events: the threads do not end");
	explorer.events[explorer.n_events].site = site;
	explorer.events[explorer.n_events].value = value;
	explorer.events[explorer.n_events].stored = stored;
	explorer.events[explorer.n_events++].thread = explorer.self;
}

static void run_thread(void)
{
	unsigned self = explorer.self;
	void (*thread)(void) = self == 0 ? explorer.test->begin : explorer.test->threads[self - 1];

	thread();
	explorer.ended[self] = true;
	if (self != 0 && explorer.begun[self])
		go(next_thread());
	_longjmp(explorer.main, 1);
}

static void run_end(void)
{
	explorer.test->end();
	_longjmp(explorer.main, 1);
}

/* Runs a function as a thread, until its first atomic operation or its end. */
static void start(unsigned self, void (*run)(void))
{
	ucontext_t *context = &explorer.contexts[self];

	explorer.self = self;
	(void)getcontext(context);
	context->uc_stack.ss_sp = explorer.stacks + self * STACK;
	context->uc_stack.ss_size = STACK;
	context->uc_link = NULL;
	makecontext(context, run, 0);
	if (_setjmp(explorer.main) == 0)
		(void)setcontext(context);
}

/* Runs one order.  The functions that end it jump to the last _setjmp(explorer.main). */
static void run_order(void)
{
	explorer.depth = explorer.n_events = 0;
	explorer.now_ns = 0;
	explorer.outcome = RUNNING;
	weak_race_reset();
	weak_memory_reset();
	for (unsigned i = 0; i < ALL_THREADS; i++) {
		explorer.begun[i] = explorer.waits[i] = false;
		explorer.n_waits[i] = 0;
		explorer.ended[i] = i > 0 && !explorer.test->threads[i - 1];
	}
	explorer.exploring = true;
	if (explorer.test->begin)
		start(0, run_thread);
	weak_memory_fork();
	for (unsigned i = 1; i < ALL_THREADS && explorer.outcome == RUNNING; i++) {
		if (!explorer.ended[i])
			start(i, run_thread);
	}
	explorer.self = 0;
	if (explorer.outcome == RUNNING && _setjmp(explorer.main) == 0) {
		unsigned to = next_thread();

		if (to != 0)
			go(to);
	}
	explorer.self = 0;
	if (explorer.outcome == RUNNING) {
		weak_memory_join();
		if (explorer.test->end)
			start(0, run_end);
	}
	if (explorer.outcome == RUNNING)
		explorer.outcome = DONE;
	explorer.exploring = false;
	explorer.orders++;
}

/* Prepares the next order.  Returns false if there is none. */
static bool advance(void)
{
	while (explorer.n_choices > 0) {
		unsigned last = explorer.n_choices - 1;

		if (++explorer.choices[last].at < explorer.choices[last].n)
			return true;
		explorer.n_choices--;
	}
	return false;
}

static void forget(void)
{
	if (explorer.n_states > 0)
		memset(explorer.states, 0, sizeof(explorer.states));
	explorer.n_choices = explorer.n_states = 0;
	explorer.orders = 0;
}

/* Returns true if no order violates an invariant. */
bool weak_search(const struct weak_test *tests, unsigned n)
{
	if (!explorer.stacks) {
		explorer.stacks = mmap(NULL, ALL_THREADS * STACK, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (explorer.stacks == MAP_FAILED)
			abort();
	}
	explorer.test = &tests[n];
	explorer.n_test = n;
	forget();
	memset(explorer.addresses, 0, sizeof(explorer.addresses));
	explorer.n_addresses = 0;
	do {
		explorer.restart = false;
		run_order();
		if (explorer.restart)
			forget();
	} while (explorer.restart || (explorer.outcome != VIOLATED && advance()));
	weak_race_reset();
	return explorer.outcome != VIOLATED;
}

void weak_print_order(void)
{
	for (unsigned i = 0; i < explorer.n_events; i++) {
		const struct weak_site *site = explorer.events[i].site;

		fprintf(stderr, "  %*s%u: %s %s %s 0x%llx (%s:%d)\n",
			4 * (int)explorer.events[i].thread, "", explorer.events[i].thread,
			site->function, site->what, explorer.events[i].stored ? "=" : "->",
			(unsigned long long)explorer.events[i].value, site->file, site->line);
	}
}

const char *weak_summary(void)
{
	static char text[64];

	(void)snprintf(text, sizeof(text), "%lu orders, %u states", explorer.orders,
		       explorer.n_states);
	return text;
}

const char *weak_what(void)
{
	return explorer.violation;
}
