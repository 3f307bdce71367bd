#include "model/threads/thread_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

#define FEW_LOCKS 64 /* fewer locks are compared one by one */

struct dump_thread *thread_list_add(struct thread_dump *d, char *name)
{
	struct dump_thread *t;

	d->threads = xgrow(d->threads, d->n, &d->cap, sizeof(*d->threads));
	t = &d->threads[d->n++];
	*t = (struct dump_thread){
		.name = name,
		.id = -1,
		.tid = -1,
		.cpu_s = -1,
		.cpu_percent = -1,
		.allocated = -1,
		.carries = -1,
		.carrier = -1,
		.owner_id = -1,
		.owner = NO_THREAD,
	};
	return t;
}

struct dump_thread *thread_dump_add(struct thread_dump *d, const char *name, int64_t tid)
{
	struct dump_thread *t = thread_list_add(d, xstrdup(name));

	t->tid = tid;
	t->state = xstrdup("native");
	return t;
}

void dump_thread_name(struct dump_thread *t, const char *name)
{
	if (*t->name || t->virtual || !name)
		return;
	free(t->name);
	t->name = xstrdup(name);
}

void thread_list_add_frame(struct dump_thread *t, char *frame)
{
	t->frames = xgrow(t->frames, t->n_frames, &t->cap_frames, sizeof(*t->frames));
	t->frames[t->n_frames++] = frame;
}

uint64_t thread_lock_id(const struct thread_lock *lock)
{
	return lock->is_hash ? lock->object ^ hash_bytes(lock->class, strlen(lock->class))
			     : lock->object;
}

/* Returns whether t->holds has a lock with this id. */
static bool is_held(struct dump_thread *t, uint64_t id)
{
	if (t->n_holds < FEW_LOCKS) {
		for (size_t i = 0; i < t->n_holds; i++) {
			if (thread_lock_id(&t->holds[i]) == id)
				return true;
		}
		return false;
	}
	for (size_t i = t->held.n; i < t->n_holds; i++)
		(void)id_map_add(&t->held, thread_lock_id(&t->holds[i]), (uint32_t)i);
	return id_map_get(&t->held, id) != ID_MAP_NONE;
}

void thread_list_add_hold(struct dump_thread *t, struct thread_lock lock)
{
	/*
	 * Skip a lock whose address is 0: it is "<owner is scalar replaced>", for which no thread
	 * can wait.
	 */
	bool is_known = lock.object == 0;
	uint64_t id = thread_lock_id(&lock);

	/*
	 * Skip a lock that is in t->holds already.  Skip the lock that the thread waits for: the
	 * thread has released that lock, although the dump says that the thread has locked it.
	 */
	if (t->wait != THREAD_WAITS_NOT && id == thread_lock_id(&t->waits_for))
		is_known = true;
	if (is_known || is_held(t, id)) {
		free(lock.class);
		return;
	}
	t->holds = xgrow(t->holds, t->n_holds, &t->cap_holds, sizeof(*t->holds));
	t->holds[t->n_holds++] = lock;
}

void thread_list_add_wait(struct dump_thread *t, enum thread_wait wait, struct thread_lock lock)
{
	/* Ignore `lock` of this outer frame: the lock of an inner frame was set before. */
	if (t->wait != THREAD_WAITS_NOT) {
		free(lock.class);
		return;
	}
	/* After a notification, the thread waits to enter the monitor again. */
	if (wait == THREAD_WAITS_FOR_NOTIFY && strcmp(t->state, "BLOCKED") == 0)
		wait = THREAD_WAITS_FOR_MONITOR;
	t->wait = wait;
	t->waits_for = lock;
}

void thread_dump_add_unknown(struct thread_dump *d, struct strview line)
{
	buf_add(&d->unknown, line.at, strview_len(line));
	buf_addc(&d->unknown, '\n');
}

bool dump_thread_same_stack(const struct dump_thread *a, const struct dump_thread *b)
{
	if (a->n_frames != b->n_frames || strcmp(a->state, b->state) != 0)
		return false;
	for (size_t i = 0; i < a->n_frames; i++) {
		if (strcmp(a->frames[i], b->frames[i]) != 0)
			return false;
	}
	return true;
}

static void release_thread(struct dump_thread *t)
{
	free(t->name);
	free(t->state);
	free(t->waits_for.class);
	for (size_t i = 0; i < t->n_holds; i++)
		free(t->holds[i].class);
	free(t->holds);
	id_map_release(&t->held);
	for (size_t i = 0; i < t->n_frames; i++)
		free(t->frames[i]);
	free(t->frames);
}

void thread_dump_release(struct thread_dump *d)
{
	for (size_t i = 0; i < d->n; i++)
		release_thread(&d->threads[i]);
	for (size_t i = 0; i < d->n_claims; i++) {
		free(d->claims[i].name);
		free(d->claims[i].owner);
	}
	free(d->claims);
	free(d->threads);
	buf_release(&d->unknown);
	*d = (struct thread_dump){ 0 };
}
