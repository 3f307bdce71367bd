/*
 * Lets the callbacks of a heap walk detect the end of the walk.
 *
 * HotSpot reports all GC roots first.  If a callback accepts a root, HotSpot pushes the root onto a
 * stack.  Then it repeatedly pops an object, reports the references from this object and pushes
 * their targets, until the stack is empty (VM_HeapWalkOperation::doit in jvmtiTagMap.cpp, JDK 8 to
 * 27).
 * HotSpot does not report the end of the walk to the callbacks, and in the child process of a
 * snapshot FollowReferences must not return.  So the callbacks detect the end of the walk, with the
 * help of two arrays that the agent creates, `table` and `tail`:
 *
 * - The table is a root, because the agent has a local reference to it.  The callbacks accept no
 *   other root, but note the addresses of the other roots.  The first element of the table is a
 *   known object, the other elements are null.  When HotSpot reports the table's first element, it
 *   has reported all roots.  The callback for the first element stores the tail in the second
 *   element, and the noted roots in the elements after it.  HotSpot reads one element after the
 *   other, so it then reports and pushes the tail and the noted roots.
 * - The tail is pushed before the noted roots, and therefore popped last.  So the reference from
 *   the tail to its only element is the last reference of the walk.
 *
 * The callback stores the elements only in the child's copy of the heap.  It stores them in the
 * layout that ag_array_layout_find() has found with an array of known elements.
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_WALK_ORDER_H
#define JTOOL_AGENT_JVM_SNAPSHOT_WALK_ORDER_H

#include "jvm/jvmti.h"
#include "util/hash_map.h"

/* How elements are stored in an Object[]. */
struct ag_array_layout {
	unsigned offset; /* offset of the first element in the array, in bytes */
	/* true: an element has 4 bytes, (address - base) >> shift; false: 8 bytes, the address */
	bool is_narrow;
	unsigned shift;
	uint64_t base;
};

struct ag_walk_order {
	jobject table, tail, last; /* local references; `last` is the only element of `tail` */
	uint32_t room;             /* number of elements that the table has room for */
	bool all_roots;            /* HotSpot has reported all roots */

	/* Addresses of `table` and `tail`: */
	uint64_t table_at, tail_at;
	struct ag_hash_map noted; /* addresses of the noted roots */
};

enum ag_walk_step {
	AG_STEP_VISIT,  /* an object of the application: visit it as in any walk */
	AG_STEP_NOTE,   /* a root: pass it to ag_walk_order_note() to visit it later; return 0 */
	AG_STEP_ACCEPT, /* return JVMTI_VISIT_OBJECTS */
	AG_STEP_SKIP,   /* return 0 */
	AG_STEP_FILL,   /* call ag_walk_order_fill(), return 0 */
	AG_STEP_END,    /* the walk has ended */
	AG_STEP_LOST,   /* give up: HotSpot does not walk in the expected order */
};

/*
 * Creates the arrays `table` and `tail`.  The table has `room` elements; element 0 is `first`, an
 * Object[].  Returns 0, or -1 with the error recorded.  Call ag_walk_order_release() in any case.
 */
int ag_walk_order_make(struct ag_jvm *jvm, struct ag_walk_order *o, uint32_t room, jobject first);
void ag_walk_order_release(struct ag_jvm *jvm, struct ag_walk_order *o);

/* Reads the addresses of `table` and `tail`.  Call it in the first callback of the walk. */
void ag_walk_order_begin(struct ag_walk_order *o);

/* Returns what the callback for a reference must do.  If `referrer` is 0, the object is a root. */
enum ag_walk_step ag_walk_order_step(const struct ag_walk_order *o, jvmtiHeapReferenceKind kind,
				     uint64_t referrer, uint64_t object, uint32_t index);

/* Notes a root.  Returns false if there are more roots than the table has room for. */
bool ag_walk_order_note(struct ag_walk_order *o, uint64_t object);

/* Stores the tail and the noted roots in the table. */
void ag_walk_order_fill(struct ag_walk_order *o, const struct ag_array_layout *layout);

/*
 * Finds the layout in which the Object[] at the address `array` has these n elements.  Reads up to
 * 8 * n + 32 bytes, of which the last ones may be after the end of the array.  Returns false if no
 * layout fits.
 */
bool ag_array_layout_find(struct ag_array_layout *layout, uint64_t array, const uint64_t *elements,
			  uint32_t n);

#endif
