#include "jvm/activity.h"

#include <stddef.h>

#include "jvm/jvmti.h"

#define ACTIVITIES_MAX 64

/* Values of `id` that mark the state of a slot; the ids of activities begin at ID_MIN. */
#define FREE 0
#define CLAIMED 1 /* the other members are being written */
#define ID_MIN 2

/* Every access to a member is atomic. */
struct ag_activity {
	uint64_t id;
	uint64_t asked; /* if equal to `id`, this activity must end; another value has no effect */
	int64_t begin_ns;
	uint16_t request;
};

static struct {
	uint64_t n; /* activities begun so far */
	struct ag_activity slots[ACTIVITIES_MAX];
} activities;

static uint64_t get_id(const struct ag_activity *a)
{
	return __atomic_load_n(&a->id, __ATOMIC_ACQUIRE);
}

static bool claim(struct ag_activity *a)
{
	uint64_t expected = FREE;

	return __atomic_compare_exchange_n(&a->id, &expected, CLAIMED, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

struct ag_activity *ag_activity_begin(uint16_t request)
{
	struct ag_activity *a = activities.slots;
	uint64_t id;

	for (; a < activities.slots + ACTIVITIES_MAX; a++) {
		if (!claim(a))
			continue;
		/*
		 * Order the store of CLAIMED before the stores below.  Else, with weak memory
		 * ordering, another thread could see the stores below first, and read_row() would
		 * mix two activities.
		 */
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__atomic_store_n(&a->begin_ns, ag_now_ns(), __ATOMIC_RELAXED);
		__atomic_store_n(&a->request, request, __ATOMIC_RELAXED);
		id = ID_MIN + __atomic_fetch_add(&activities.n, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&a->id, id, __ATOMIC_RELEASE);
		return a;
	}
	return NULL;
}

void ag_activity_end(struct ag_activity **a)
{
	if (*a)
		__atomic_store_n(&(*a)->id, FREE, __ATOMIC_RELEASE);
	*a = NULL;
}

bool ag_activity_must_end(const struct ag_activity *a)
{
	return a && __atomic_load_n(&a->asked, __ATOMIC_ACQUIRE) == get_id(a);
}

/* Returns false if the slot is free, or was reused during this call. */
static bool read_row(const struct ag_activity *a, struct ag_activity_row *row)
{
	row->id = get_id(a);
	if (row->id < ID_MIN)
		return false;
	row->request = __atomic_load_n(&a->request, __ATOMIC_RELAXED);
	row->ns = (uint64_t)(ag_now_ns() - __atomic_load_n(&a->begin_ns, __ATOMIC_RELAXED));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&a->id, __ATOMIC_RELAXED) == row->id;
}

bool ag_activity_next(uint32_t *next, struct ag_activity_row *row)
{
	while (*next < ACTIVITIES_MAX) {
		if (read_row(&activities.slots[(*next)++], row))
			return true;
	}
	return false;
}

void ag_activity_ask(uint64_t id)
{
	for (uint32_t i = 0; i < ACTIVITIES_MAX; i++) {
		struct ag_activity *a = &activities.slots[i];

		if (get_id(a) == id)
			__atomic_store_n(&a->asked, id, __ATOMIC_RELEASE);
	}
}
