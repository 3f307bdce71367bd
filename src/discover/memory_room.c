#include "discover/memory_room.h"

#include "fileio/disk_room.h"

#define MB (INT64_C(1) << 20)

/*
 * Bytes by which a JVM is assumed to grow during a request.  Each comment has the largest measured
 * growth of the JVM's peak resident memory, and the request that caused it (JDK 8, 17 and 25 with
 * Serial, Parallel and G1, 256 MB of heap and about 600 classes).
 */
#define REQUEST_GROWTH MB        /* 0.4 MB: class histogram */
#define AGENT_GROWTH (6 * MB)    /* 3.3 MB: first request for the system properties */
#define CHANGE_GROWTH (24 * MB)  /* 10.0 MB: trace of 1500 methods */
#define CLASS_GROWTH (16 * 1024) /* per class, added to CHANGE_GROWTH; 11.9 MB: alloc --exact */
#define JAVA_GROWTH (40 * MB)    /* 33.8 MB: start of the flight recorder */
#define WALK_MAX (1024 * MB)
#define COPY_RATE_MAX (64 * MB) /* copies between two checks of the memory: 3 GB/s for 20 ms */
#define COPY_MAX (512 * MB)     /* limit of the room for a snapshot's copies: 1 GB/s for 0.5 s */

#define RESERVE_SHARE 64
#define RESERVE_MIN (2 * MB)
#define RESERVE_MAX (64 * MB)

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the growth in a walk over all references.  The stack of FollowReferences has 8 bytes for
 * each object that is reached and not visited yet.  When the stack doubles, the old array and the
 * new one, which is twice as large, exist together and take 8 + 16 = 24 bytes for each such object.
 * In the worst case the heap is one object array, whose elements are reached all at once.  Each
 * element takes at least 20 bytes of the heap (a reference of 4 and an object of 16), so the stack
 * takes up to 24/20 = 1.2 times the used heap; 1.1 was measured.  The function returns 1.25 times
 * the used heap, but at most WALK_MAX.  The memory guard ends a walk that takes more
 * (session/memory_guard.h).
 */
static int64_t walk_growth(const struct memory_heap *heap)
{
	int64_t used = heap->used >= 0 ? heap->used : heap->committed;

	return used > 0 ? lesser(used / 4, WALK_MAX / 5) * 5 : 0;
}

/*
 * Returns the growth in a full collection.  The collection may move objects to heap pages that were
 * never touched.  These pages take at most the unused part of the heap, and at most the size of the
 * young generation, for which half of the committed heap is assumed.  Mark bitmaps take 1/32 of the
 * heap.
 */
static int64_t collect_growth(const struct memory_heap *heap)
{
	int64_t committed = heap->committed >= 0 ? heap->committed : heap->max, moved;

	if (committed < 0)
		return 0;
	moved = committed / 2;
	if (heap->used >= 0 && heap->max >= heap->used)
		moved = lesser(moved, heap->max - heap->used);
	return (heap->touched ? 0 : moved) + committed / 32;
}

/*
 * Returns the growth while a snapshot exists.  When the application first writes to a page, the
 * kernel copies the page.  The application may write to every page of the heap.  But jtool watches
 * the memory and ends the snapshot when too little is left, so only room for copies of a part of
 * the heap is required.  With pages of 4 KB, the page tables of the child take 1/512 of the heap;
 * with larger pages, less.
 */
static int64_t copy_growth(const struct memory_heap *heap)
{
	int64_t committed = heap->committed >= 0 ? heap->committed : heap->max;

	if (committed < 0)
		return COPY_MAX;
	return lesser(committed / 2, COPY_MAX) + COPY_RATE_MAX + committed / 512;
}

int64_t memory_growth(enum memory_use use, const struct memory_heap *heap)
{
	switch (use) {
	case MEMORY_IDLE:
		return 0;
	case MEMORY_REQUEST:
		return REQUEST_GROWTH;
	case MEMORY_AGENT:
		return AGENT_GROWTH;
	case MEMORY_DUMP:
		return JVM_DUMP_GROWTH;
	case MEMORY_CHANGE:
		return CHANGE_GROWTH;
	case MEMORY_JAVA:
		return JAVA_GROWTH;
	case MEMORY_CHANGE_ALL:
		return CHANGE_GROWTH + (heap->classes > 0 ? heap->classes : 0) * CLASS_GROWTH;
	case MEMORY_COLLECT:
		return JVM_DUMP_GROWTH + collect_growth(heap);
	case MEMORY_WALK:
		return AGENT_GROWTH + walk_growth(heap);
	case MEMORY_SNAPSHOT:
		return AGENT_GROWTH + walk_growth(heap) + copy_growth(heap);
	case MEMORY_COPY:
		return COPY_RATE_MAX;
	}
	return 0;
}

int64_t memory_reserve(const struct cgroup_level *level)
{
	int64_t reserve = level->limit / RESERVE_SHARE;

	if (reserve < RESERVE_MIN)
		reserve = RESERVE_MIN;
	return reserve < RESERVE_MAX ? reserve : RESERVE_MAX;
}

/*
 * Returns a group's free memory in bytes minus the JVM's growth and the reserve; may be negative.
 */
static int64_t left_of(const struct cgroup_level *level, int64_t growth)
{
	int64_t reserve = memory_reserve(level);

	/*
	 * Double the reserve if the kernel kills all processes of the group (memory.oom.group): the
	 * JVM then dies even when the kernel chooses jtool as its victim.
	 */
	if (level->shared && level->kills_all)
		reserve *= 2;
	return level->free - reserve - growth;
}

struct memory_room memory_room(const struct cgroup_level *levels, size_t n, int64_t growth,
			       int64_t own)
{
	struct memory_room room = { .jvm = INT64_MAX, .own = INT64_MAX };
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		int64_t left = left_of(&levels[i], growth), wanted = levels[i].shared ? own : 0;

		if (left < room.jvm)
			room.jvm = left;
		if (levels[i].shared && left < room.own)
			room.own = left;
		if (left - wanted >= least)
			continue;
		least = left - wanted;
		room.level = i;
		if (least < 0)
			room.verdict = left < 0 ? MEMORY_SHORT : MEMORY_SHORT_OWN;
	}
	return room;
}
