/*
 * Lets the callbacks of a heap walk detect its end.
 *
 * HotSpot reports all GC roots first, and puts the accepted ones on a stack; then it pops an
 * object, reports the references from it and pushes what they refer to, until the stack is empty
 * (VM_HeapWalkOperation::doit in jvmtiTagMap.cpp, JDK 8 to 27).  It does not report the end to the
 * callbacks, and in a child process it must not return.  The callbacks detect the end with two
 * arrays:
 *
 * - Of the roots, only the array `table` is accepted, and the others are noted.  Its first element
 *   is a known object, the rest is null.
 * - The first reference from the table thus means that all roots are known.  Its callback writes
 *   the array `tail` to the second element and the noted roots to the others.  HotSpot reads one
 *   element after the other, and now reports and pushes them.
 * - The tail was pushed first, and is popped last: the reference from it is the last one.
 *
 * The elements are written to the child's copy of the heap, in a layout that was verified before
 * with an array of known elements.
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_WALK_ORDER_H
#define JTOOL_AGENT_JVM_SNAPSHOT_WALK_ORDER_H

#include "jvm/jvmti.h"
#include "util/hash_map.h"

/* How elements are stored in an Object[]. */
struct ag_array_layout {
	unsigned offset; /* of the first element */
	bool is_narrow;  /* 4 bytes: (address - base) >> shift; otherwise 8 bytes: the address */
	unsigned shift;
	uint64_t base;
};

struct ag_walk_order {
	jobject table, tail, last; /* local references; `last` is the element of `tail` */
	uint32_t room;             /* elements of the table */
	bool all_roots;            /* all roots are known */

	/* Addresses: */
	uint64_t table_at, tail_at;
	struct ag_hash_map noted; /* roots */
};

enum ag_walk_step {
	AG_STEP_VISIT,  /* an object of the application: as in any walk */
	AG_STEP_NOTE,   /* a root: return 0, and call ag_walk_order_note() if it is to be visited */
	AG_STEP_ACCEPT, /* return JVMTI_VISIT_OBJECTS */
	AG_STEP_SKIP,   /* return 0 */
	AG_STEP_FILL,   /* call ag_walk_order_fill(), return 0 */
	AG_STEP_END,    /* the walk has ended */
	AG_STEP_LOST,   /* HotSpot does not walk as expected */
};

/*
 * Creates the arrays: a table of `room` elements, of which `first`, an Object[], becomes the first.
 * Returns 0, or -1 with the error recorded.  Release them in any case.
 */
int ag_walk_order_make(struct ag_jvm *jvm, struct ag_walk_order *o, uint32_t room, jobject first);
void ag_walk_order_release(struct ag_jvm *jvm, struct ag_walk_order *o);

/* In the first callback. */
void ag_walk_order_begin(struct ag_walk_order *o);

/* Returns what a callback must do with an object; referrer 0: a root. */
enum ag_walk_step ag_walk_order_step(const struct ag_walk_order *o, jvmtiHeapReferenceKind kind,
				     uint64_t referrer, uint64_t object, uint32_t index);

/* Returns false if there are more roots than the table has room for. */
bool ag_walk_order_note(struct ag_walk_order *o, uint64_t object);

/* Writes the elements of the table. */
void ag_walk_order_fill(struct ag_walk_order *o, const struct ag_array_layout *layout);

/*
 * Finds the layout with an array of n elements that refer to known objects.  Reads up to 8 * n + 32
 * bytes, of which the last ones may be beyond the array.  Returns false if none fits.
 */
bool ag_array_layout_find(struct ag_array_layout *layout, uint64_t array, const uint64_t *elements,
			  uint32_t n);

#endif
