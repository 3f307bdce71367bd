/*
 * A part of the fake JVM: the heap, its walks, and tags.
 *
 * The heap has the objects that the test adds.  FollowReferences() begins at the roots and reports
 * the same references as HotSpot, in HotSpot's order.
 */
#ifndef JTOOL_TESTS_JVM_HEAP_H
#define JTOOL_TESTS_JVM_HEAP_H

#include "agent/fake/jvm_parts.h"

#define FAKE_HEAP_MAX 512
#define FAKE_REPORTS_MAX 4096
#define FAKE_ROOTS_MAX 128
#define FAKE_HEAP_FIELDS (FAKE_FIELDS - 1) /* the first fields of an object: its references */

/* Thread ids in roots.  A walk reports the virtual thread's frames after all roots. */
enum { FAKE_APP_THREAD = 3, FAKE_OWN_THREAD = 7, FAKE_VIRTUAL_THREAD = 11 };

/* A callback of FollowReferences().  The callback that aborts the walk is not recorded. */
struct fake_report {
	jvmtiHeapReferenceKind kind;
	jvmtiHeapReferenceInfo info;
	unsigned long object, referrer; /* addresses; referrer 0: a root */
	const char *of_class;           /* the referrer's signature */
	jlong size;  /* of the object, in bytes */
	jint length; /* of the object, in elements; -1: not an array */
};

struct fake_root {
	jvmtiHeapReferenceKind kind; /* JNI_LOCAL: stands for all local references of the caller */
	struct fake_object *object; /* NULL, for a THREAD root: the current thread */
	jvmtiHeapReferenceInfo info;
};

struct fake_heap {
	/* The words before a tag in memory; callbacks get the address of the tag */
	bool other_wrapper;  /* one word more than in HotSpot before the object's tag */
	bool other_referrer; /* one word more than in HotSpot before the referrer's tag */
	/* Classes that a walk treats specially */
	struct fake_object *class_class, *reference_class;
	/* A class whose static fields refer to all objects of classes with klass >= held_from */
	struct fake_object *holder;
	uint32_t held_from;
	/* A virtual thread's frame, which refers to all objects of the class in_virtual.object */
	struct fake_root in_virtual;
	struct fake_root roots[FAKE_ROOTS_MAX];
	size_t n_roots;

	/* What the agent has done */
	int collections; /* calls of ForceGarbageCollection() */
	size_t iterated; /* objects that the last walk over all objects reported */
	/* The reports of the last FollowReferences() */
	struct fake_report reports[FAKE_REPORTS_MAX];
	size_t n_reports;
};
extern struct fake_heap fake_heap;

void fake_add_heap(void);
void fake_heap_put(struct fake_object *object);
/* Returns object i in the order in which they were added, from 0; NULL after the last. */
struct fake_object *fake_heap_get(size_t i);
/* Returns the class with this signature; the test fails if there is none. */
struct fake_object *fake_heap_class(const char *signature);
/* Forgets all objects. */
void fake_heap_clear(void);
/* Returns the number of objects with a tag. */
size_t fake_tagged(void);
/* Returns the address that an object has in the heap. */
static inline uintptr_t fake_address(const struct fake_object *object)
{
	return (uintptr_t)(object + 1);
}

#endif
