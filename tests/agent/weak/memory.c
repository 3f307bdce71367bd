/* The memory model: the history of stores to each location, and the view of each thread. */
#include <string.h>

#include "agent/weak/weak_internal.h"

struct message {
	uint64_t value, hash;
	uint16_t location, position; /* index in the location's history */
	bool followed; /* a read-modify-write has read it: no store may come between them */
	bool unread;   /* of a plain store: its value is in memory, not yet in `value` */
	struct view view; /* the view that a reader with acquire gets */
};

struct location {
	const void *p;
	size_t size;
	uint16_t history[MESSAGES_MAX / 4], n;
	uint16_t newest_sc; /* the last store that an operation with seq_cst stored or loaded */
	uint64_t hash;      /* of the history; 0: it has changed */
};

/* Views of a thread: `now`; the view after an acquire fence; at the last release fence. */
struct thread {
	struct view now, acquired, released;
	uint64_t hash;
};

static struct {
	struct location locations[LOCATIONS_MAX];
	struct message messages[MESSAGES_MAX];
	struct thread threads[ALL_THREADS];
	struct view fences; /* the stores that fences with seq_cst have seen; only `at` is used */
	unsigned n_locations, n_messages;
} memory;

static struct thread *self(void)
{
	return &memory.threads[weak_self()];
}

static bool is_acquire(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool is_release(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static unsigned position(uint16_t message)
{
	return message ? memory.messages[message].position : 0;
}

static uint16_t later(uint16_t a, uint16_t b)
{
	return position(b) > position(a) || a == 0 ? b : a;
}

static void join_at(struct view *to, const struct view *from)
{
	for (unsigned i = 0; i < memory.n_locations; i++)
		to->at[i] = later(to->at[i], from->at[i]);
}

static void join(struct view *to, const struct view *from)
{
	join_at(to, from);
	for (unsigned i = 0; i < ALL_THREADS; i++) {
		if (from->clock[i] > to->clock[i])
			to->clock[i] = from->clock[i];
	}
}

static void saw(struct thread *t, unsigned location, uint16_t message)
{
	t->now.at[location] = later(t->now.at[location], message);
	t->acquired.at[location] = later(t->acquired.at[location], message);
}

static uint64_t in_memory(const void *p, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, p, size);
	return value;
}

static uint64_t change(enum weak_rmw op, uint64_t value, uint64_t operand)
{
	switch (op) {
	case WEAK_ADD:
		return value + operand;
	case WEAK_SUB:
		return value - operand;
	case WEAK_OR:
		return value | operand;
	case WEAK_AND:
		return value & operand;
	default:
		return operand;
	}
}

/* Executes an operation that other threads cannot see. */
static uint64_t direct(const struct weak_site *site, const void *p, size_t size, enum weak_rmw op,
		       uint64_t operand)
{
	uint64_t was = in_memory(p, size), value = change(op, was, operand);

	weak_note(site);
	if (value == was)
		return was;
	weak_access(p, size, WEAK_ATOMIC_STORE);
	memcpy((void *)(uintptr_t)p, &value, size);
	return was;
}

/* Inserts a store in a location's history. */
static uint16_t insert(unsigned location, unsigned at, uint64_t value, uint64_t hash)
{
	struct location *l = &memory.locations[location];
	uint16_t id = (uint16_t)memory.n_messages;

	if (memory.n_messages >= MESSAGES_MAX || l->n >= MESSAGES_MAX / 4)
		weak_violation("too many stores: the threads do not end");
	memory.n_messages++;
	memmove(l->history + at + 1, l->history + at, (l->n - at) * sizeof(l->history[0]));
	l->history[at] = id;
	l->n++;
	l->hash = 0;
	for (unsigned i = at; i < l->n; i++)
		memory.messages[l->history[i]].position = (uint16_t)i;
	memset(&memory.messages[id], 0, sizeof(memory.messages[id]));
	memory.messages[id].position = (uint16_t)at;
	memory.messages[id].location = (uint16_t)location;
	memory.messages[id].value = value;
	memory.messages[id].hash = hash;
	return id;
}

static unsigned location_of(const void *p, size_t size)
{
	struct location *l;
	unsigned i;

	for (i = 0; i < memory.n_locations; i++) {
		l = &memory.locations[i];
		if (l->p == p && l->size == size)
			break;
		if ((const char *)p < (const char *)l->p + l->size &&
		    (const char *)l->p < (const char *)p + size)
			weak_violation("atomic operations of different sizes overlap");
	}
	l = &memory.locations[i];
	if (i == memory.n_locations) {
		if (i == LOCATIONS_MAX)
			weak_violation("too many locations");
		memory.n_locations++;
		*l = (struct location){ .p = p, .size = size };
		insert(i, 0, in_memory(l->p, l->size), 1);
	}
	if (memory.messages[l->history[l->n - 1]].unread) {
		memory.messages[l->history[l->n - 1]].value = in_memory(l->p, l->size);
		memory.messages[l->history[l->n - 1]].unread = false;
	}
	return i;
}

/* Returns the hash of the thread's next event.  It depends only on the history of the thread. */
static uint64_t event(struct thread *t, uint64_t what)
{
	t->hash = weak_mix(t->hash, what);
	return t->hash;
}

static void tick(struct thread *t)
{
	t->now.clock[weak_self()]++;
	t->acquired.clock[weak_self()] = t->now.clock[weak_self()];
}

/* Returns the position of the oldest store that an operation may read or follow. */
static unsigned oldest(const struct thread *t, unsigned location, int order)
{
	unsigned at = position(t->now.at[location]);
	unsigned sc = position(memory.locations[location].newest_sc);

	return order == __ATOMIC_SEQ_CST && sc > at ? sc : at;
}

static void note_sc(unsigned location, uint16_t message, int order)
{
	struct location *l = &memory.locations[location];

	if (order == __ATOMIC_SEQ_CST)
		l->newest_sc = later(l->newest_sc, message);
}

static void read_message(struct thread *t, uint16_t id, int order)
{
	const struct message *m = &memory.messages[id];

	saw(t, m->location, id);
	join(&t->acquired, &m->view);
	if (is_acquire(order))
		join(&t->now, &m->view);
	note_sc(m->location, id, order);
}

uint64_t weak_load(const struct weak_site *site, const void *p, size_t size)
{
	struct location *l;
	struct thread *t;
	unsigned location, from;
	uint16_t id;
	int order;

	weak_access(p, size, WEAK_ATOMIC_LOAD);
	if (!weak_schedule(p, false))
		return direct(site, p, size, WEAK_ADD, 0);
	t = self();
	order = weak_order(site, false);
	location = location_of(p, size);
	l = &memory.locations[location];
	from = oldest(t, location, order);
	id = l->history[l->n - 1 - weak_pick(l->n - from)];
	read_message(t, id, order);
	(void)event(t, memory.messages[id].hash);
	weak_trace(site, memory.messages[id].value, false);
	return memory.messages[id].value;
}

/* Stores a value after the store at position `at`. */
static void store(struct thread *t, unsigned location, unsigned at, uint64_t value, int order,
		  const struct view *continued)
{
	struct location *l = &memory.locations[location];
	uint16_t id = insert(location, at + 1, value, event(t, weak_mix(value, location)));
	struct message *m = &memory.messages[id];

	saw(t, location, id);
	m->view = is_release(order) ? t->now : t->released;
	m->view.at[location] = id;
	if (continued)
		join(&m->view, continued);
	if (at + 2u == l->n)
		memcpy((void *)(uintptr_t)l->p, &value, l->size);
	note_sc(location, id, order);
	tick(t);
}

/* Chooses the position of a store, at least `from`, after which another store can be placed. */
static unsigned choose_place(const struct location *l, unsigned from)
{
	unsigned places[MESSAGES_MAX / 4], n = 0;

	for (unsigned i = l->n; i > from; i--) {
		if (!memory.messages[l->history[i - 1]].followed)
			places[n++] = i - 1;
	}
	return places[weak_pick(n)];
}

void weak_store(const struct weak_site *site, void *p, size_t size, uint64_t value)
{
	unsigned location;
	struct thread *t;
	int order;

	if (!weak_schedule(p, true)) {
		(void)direct(site, p, size, WEAK_EXCHANGE, value);
		return;
	}
	weak_access(p, size, WEAK_ATOMIC_STORE);
	t = self();
	order = weak_order(site, false);
	location = location_of(p, size);
	weak_trace(site, value, true);
	store(t, location, choose_place(&memory.locations[location], oldest(t, location, order)),
	      value, order, NULL);
}

static uint64_t low_bytes(uint64_t value, size_t size)
{
	return size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

static void replace(const struct weak_site *site, struct thread *t, unsigned location, unsigned at,
		    uint64_t value, int order)
{
	uint16_t id = memory.locations[location].history[at];

	read_message(t, id, order);
	(void)event(t, memory.messages[id].hash);
	memory.messages[id].followed = true;
	weak_trace(site, value, true);
	store(t, location, at, value, order, &memory.messages[id].view);
}

uint64_t weak_rmw(const struct weak_site *site, void *p, size_t size, enum weak_rmw op,
		  uint64_t operand)
{
	unsigned location, at;
	struct thread *t;
	uint64_t value;
	int order;

	if (!weak_schedule(p, true))
		return direct(site, p, size, op, operand);
	weak_access(p, size, WEAK_ATOMIC_STORE);
	t = self();
	order = weak_order(site, false);
	location = location_of(p, size);
	at = choose_place(&memory.locations[location], oldest(t, location, order));
	value = memory.messages[memory.locations[location].history[at]].value;
	replace(site, t, location, at, low_bytes(change(op, value, operand), size), order);
	return value;
}

bool weak_compare(const struct weak_site *site, void *p, size_t size, void *expected,
		  uint64_t desired)
{
	unsigned location, places[MESSAGES_MAX / 4], n = 0, from, at;
	uint64_t wanted = 0, value;
	struct location *l;
	struct thread *t;

	memcpy(&wanted, expected, size);
	if (!weak_schedule(p, true)) {
		value = in_memory(p, size);
		(void)direct(site, (void *)p, size, WEAK_EXCHANGE,
			     value == wanted ? desired : value);
		memcpy(expected, &value, size);
		return value == wanted;
	}
	t = self();
	location = location_of(p, size);
	l = &memory.locations[location];
	from = oldest(t, location, weak_order(site, true));
	if (from > oldest(t, location, weak_order(site, false)))
		from = oldest(t, location, weak_order(site, false));
	for (unsigned i = l->n; i > from; i--) {
		const struct message *m = &memory.messages[l->history[i - 1]];
		int order = weak_order(site, m->value != wanted);

		if (i - 1 >= oldest(t, location, order) && (m->value != wanted || !m->followed))
			places[n++] = i - 1;
	}
	at = places[weak_pick(n)];
	value = memory.messages[l->history[at]].value;
	if (value == wanted) {
		weak_access(p, size, WEAK_ATOMIC_STORE);
		replace(site, t, location, at, desired, weak_order(site, false));
		return true;
	}
	weak_access(p, size, WEAK_ATOMIC_LOAD);
	read_message(t, l->history[at], weak_order(site, true));
	(void)event(t, memory.messages[l->history[at]].hash);
	weak_trace(site, value, false);
	memcpy(expected, &value, size);
	return false;
}

void weak_fence(const struct weak_site *site)
{
	struct thread *t;
	int order;

	if (!weak_schedule(NULL, true))
		return;
	t = self();
	order = weak_order(site, false);
	weak_trace(site, 0, true);
	(void)event(t, 3);
	if (is_acquire(order))
		join(&t->now, &t->acquired);
	if (order == __ATOMIC_SEQ_CST) {
		for (unsigned i = 0; i < memory.n_locations; i++)
			memory.fences.at[i] = later(memory.fences.at[i],
						    memory.locations[i].newest_sc);
		join_at(&memory.fences, &t->now);
		join_at(&t->now, &memory.fences);
		join_at(&t->acquired, &memory.fences);
		for (unsigned i = 0; i < memory.n_locations; i++)
			memory.locations[i].newest_sc = memory.fences.at[i];
	}
	if (is_release(order)) {
		t->released = t->now;
		tick(t);
	}
}

void weak_memory_reset(void)
{
	memory.n_locations = 0;
	memory.n_messages = 1; /* 0: none */
	memset(memory.threads, 0, sizeof(memory.threads));
	memset(&memory.fences, 0, sizeof(memory.fences));
	for (unsigned i = 0; i < ALL_THREADS; i++) {
		memory.threads[i].hash = i + 1;
		memory.threads[i].now.clock[i] = memory.threads[i].acquired.clock[i] = 1;
	}
}

void weak_memory_fork(void)
{
	tick(&memory.threads[0]);
	for (unsigned i = 1; i < ALL_THREADS; i++) {
		struct thread *t = &memory.threads[i];

		t->released = memory.threads[0].now;
		t->released.clock[0]--; /* without the later events of thread 0, in end() */
		join(&t->now, &t->released);
		t->acquired = t->now;
	}
}

void weak_memory_join(void)
{
	for (unsigned i = 1; i < ALL_THREADS; i++)
		join(&memory.threads[0].now, &memory.threads[i].now);
	memory.threads[0].acquired = memory.threads[0].now;
	weak_memory_catch_up();
}

void weak_memory_catch_up(void)
{
	for (unsigned i = 0; i < memory.n_locations; i++) {
		const struct location *l = &memory.locations[i];

		saw(self(), i, l->history[l->n - 1]);
	}
}

void weak_memory_overwritten(const void *p, size_t size)
{
	for (unsigned i = 0; i < memory.n_locations; i++) {
		const struct location *l = &memory.locations[i];
		uint16_t id;

		if ((const char *)p >= (const char *)l->p + l->size ||
		    (const char *)l->p >= (const char *)p + size)
			continue;
		id = l->history[l->n - 1];
		if (!memory.messages[id].unread)
			id = insert(i, l->n, 0, event(self(), 2));
		memory.messages[id].unread = true;
		saw(self(), i, id);
	}
}

static uint64_t hash_history(const struct location *l)
{
	uint64_t hash = (uintptr_t)l->p;

	for (unsigned i = 1; i < l->n; i++)
		hash = weak_mix(hash, memory.messages[l->history[i]].hash);
	return hash;
}

uint64_t weak_memory_hash(void)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < ALL_THREADS; i++)
		hash = weak_mix(hash, memory.threads[i].hash);
	for (unsigned i = 0; i < memory.n_locations; i++) {
		struct location *l = &memory.locations[i];

		if (l->n == 1)
			continue;
		if (l->hash == 0)
			l->hash = hash_history(l);
		hash += weak_mix(l->hash, memory.messages[l->newest_sc].hash ^
				 memory.messages[memory.fences.at[i]].hash << 1);
	}
	return hash;
}

void weak_memory_hash_choice(uint64_t value)
{
	(void)event(self(), value);
}

const uint16_t *weak_clock(void)
{
	return self()->now.clock;
}
