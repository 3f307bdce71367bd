/*
 * Finds for each waiting thread the thread that holds the lock.  Each thread waits for at most one
 * lock, so the waiting threads form trees, or rings (deadlocks).
 */
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/xalloc.h"
#include "model/threads/thread_list.h"

/* maximum number of claims in the JVM's report that are used: each needs a search of all threads */
#define CLAIMS_MAX 1000

/*
 * Adds the lock to `holders`, which maps locks to the indexes of the threads that hold them.  If a
 * lock is known only by its hash code and two threads seem to hold it, there are two locks with
 * this hash code, or the threads were dumped at different times.  The owner is then unknown: the
 * map has `d->n`.
 */
static void add_holder(struct id_map *holders, const struct thread_dump *d, size_t thread,
		       const struct thread_lock *lock)
{
	uint64_t id = thread_lock_id(lock);

	if (id_map_add(holders, id, (uint32_t)thread) != thread && lock->is_hash)
		id_map_set(holders, id, (uint32_t)d->n);
}

static void find_owners(struct thread_dump *d)
{
	struct id_map holders = { .n = 0 }, ids = { .n = 0 };

	for (size_t i = 0; i < d->n; i++) {
		if (d->threads[i].id >= 0)
			(void)id_map_add(&ids, (uint64_t)d->threads[i].id, (uint32_t)i);
		for (size_t k = 0; k < d->threads[i].n_holds; k++)
			add_holder(&holders, d, i, &d->threads[i].holds[k]);
	}
	for (size_t i = 0; i < d->n; i++) {
		struct dump_thread *t = &d->threads[i];
		uint32_t owner;

		/* A thread in Object.wait() does not wait for a particular thread. */
		if (t->wait == THREAD_WAITS_NOT || t->wait == THREAD_WAITS_FOR_NOTIFY ||
		    t->waits_for.object == 0)
			continue;
		owner = t->owner_id >= 0 ? id_map_get(&ids, (uint64_t)t->owner_id) :
					   id_map_get(&holders, thread_lock_id(&t->waits_for));
		t->owner = owner >= d->n || owner == i ? NO_THREAD : owner;
	}
	id_map_release(&holders);
	id_map_release(&ids);
}

/*
 * Returns true for a class of the JDK that extends AbstractOwnableSynchronizer and whose objects
 * have an exclusive owner.
 */
static bool is_owned(const char *class)
{
	static const char *const owned[] = {
		"java.util.concurrent.locks.ReentrantLock$",
		"java.util.concurrent.locks.ReentrantReadWriteLock$",
		"java.util.concurrent.ThreadPoolExecutor$Worker",
	};

	for (size_t i = 0; class && i < ARRAY_SIZE(owned); i++) {
		if (strncmp(class, owned[i], strlen(owned[i])) == 0)
			return true;
	}
	return false;
}

static bool is_claimed(const struct thread_dump *d, uint64_t object)
{
	for (size_t i = 0; i < d->n_claims && i < CLAIMS_MAX; i++) {
		if (d->claims[i].object == object)
			return true;
	}
	return false;
}

size_t thread_dump_count_unowned(const struct thread_dump *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n && !d->has_synchronizers; i++) {
		const struct dump_thread *t = &d->threads[i];

		n += t->wait == THREAD_WAITS_PARKED && is_owned(t->waits_for.class) &&
		     !is_claimed(d, t->waits_for.object);
	}
	return n;
}

/* Returns the index of the thread claim->name if it waits for claim->object; else NO_THREAD. */
static size_t claimant(const struct thread_dump *d, const struct thread_claim *claim)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->threads[i].waits_for.object == claim->object &&
		    d->threads[i].wait != THREAD_WAITS_NOT &&
		    strcmp(d->threads[i].name, claim->name) == 0)
			return i;
	}
	return NO_THREAD;
}

/*
 * Takes the owners of locks from the JVM's report of deadlocks, for the waiting threads for which
 * find_owners() has found no owner.
 */
static void believe_report(struct thread_dump *d)
{
	size_t n = d->n_claims < CLAIMS_MAX ? d->n_claims : CLAIMS_MAX;
	_cleanup_free_ size_t *claimants = xcalloc(n + 1, sizeof(*claimants));

	for (size_t i = 0; i < n; i++)
		claimants[i] = claimant(d, &d->claims[i]);
	for (size_t i = 0; i < n; i++) {
		size_t waits = claimants[i], owner = NO_THREAD;

		if (waits == NO_THREAD || d->threads[waits].owner != NO_THREAD ||
		    !d->claims[i].owner)
			continue;
		for (size_t k = 0; k < n && owner == NO_THREAD; k++) {
			if (strcmp(d->claims[k].name, d->claims[i].owner) == 0)
				owner = claimants[k];
		}
		d->threads[waits].owner = owner == waits ? NO_THREAD : owner;
	}
}

/*
 * Follows the path from thread `start` to the owner of the lock for which it waits, and on from
 * owner to owner.  If the path leads to a ring of threads that has no number yet, gives the ring a
 * number.  Stores in seen[i] 1 + the first `start` whose path has reached thread i.
 */
static void find_ring(struct thread_dump *d, size_t start, size_t *seen)
{
	size_t at = start;

	while (at != NO_THREAD && seen[at] == 0) {
		seen[at] = start + 1;
		at = d->threads[at].owner;
	}
	if (at == NO_THREAD || seen[at] != start + 1)
		return;
	d->n_rings++;
	for (size_t i = at; d->threads[i].ring == 0; i = d->threads[i].owner)
		d->threads[i].ring = d->n_rings;
}

/*
 * Computes n_waiting of each thread.  Begins with the threads for which no thread waits, and goes
 * on from each thread to the owner of its lock.  Skips deadlocks, whose members wait for one
 * another.
 */
static void count_waiting(struct thread_dump *d)
{
	/* waiters[i]: number of threads that wait for a lock of thread i and are not yet counted */
	size_t *waiters = xcalloc(d->n + 1, sizeof(*waiters));
	size_t *leaves = xcalloc(d->n + 1, sizeof(*leaves)), n = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (d->threads[i].ring == 0 && d->threads[i].owner != NO_THREAD)
			waiters[d->threads[i].owner]++;
	}
	for (size_t i = 0; i < d->n; i++) {
		if (d->threads[i].ring == 0 && waiters[i] == 0)
			leaves[n++] = i;
	}
	while (n > 0) {
		size_t leaf = leaves[--n], owner = d->threads[leaf].owner;

		if (owner == NO_THREAD)
			continue;
		d->threads[owner].n_waiting += d->threads[leaf].n_waiting + 1;
		if (--waiters[owner] == 0 && d->threads[owner].ring == 0)
			leaves[n++] = owner;
	}
	free(waiters);
	free(leaves);
}

void thread_dump_link(struct thread_dump *d)
{
	size_t *seen = xcalloc(d->n + 1, sizeof(*seen));

	find_owners(d);
	believe_report(d);
	for (size_t i = 0; i < d->n; i++)
		find_ring(d, i, seen);
	count_waiting(d);
	free(seen);
}
