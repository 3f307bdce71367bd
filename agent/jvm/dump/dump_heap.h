/*
 * Reads objects in the child, where the heap does not change, and visits each reachable one once.
 *
 * HotSpot's walk takes 50 to 100 ns a reference, in one thread.  The child knows the layout of all
 * classes, so it needs HotSpot for the roots and classes only.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_HEAP_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_HEAP_H

#include "jvm/dump/dump_layout.h"
#include "jvm/heap/klass_probe.h"
#include "jvm/snapshot/confine.h"
#include "jvm/snapshot/snapshot.h"
#include "jvm/snapshot/walk_order.h"

/* Arrays of the agent with known contents, for ag_dump_heap_init(). */
#define AG_DUMP_PATTERN 37 /* elements, with the values 1, 2, … */

struct ag_dump_heap {
	struct ag_dump_layout *layout;
	struct ag_klass_probe probe;
	struct ag_class_map by_key; /* ag_class_key() → number of the class */
	struct ag_hash_map by_address; /* address of a java.lang.Class → number */
	struct ag_array_layout refs; /* of references in arrays and fields */
	unsigned length_at;   /* of an array's length */
	unsigned small_at, large_at; /* of the first element, if elements have 8 bytes: large_at */

	uint64_t **marks; /* bits by word of the heap, in regions that are mapped when needed */
	uint64_t *stack;  /* addresses of objects that are marked but not visited */
	size_t n, cap;
	uint8_t *values, *values_end; /* memory for ag_dump_class.values */
	uint32_t n_unknown; /* classes without a loader that are not in the list */
	struct ag_hprof *out;
	volatile uint64_t *progress;
};

/*
 * Maps memory that takes room only where it is written to, without malloc(), whose locks the child
 * may find taken.  Returns NULL if there is no address space.
 */
void *ag_dump_map(size_t size);
void ag_dump_unmap(void *p, size_t size); /* p may be NULL */

/* Prepares, in the JVM: maps memory, which is not touched.  Returns 0 or an errno. */
int ag_dump_heap_reserve(struct ag_dump_heap *h);
void ag_dump_heap_release(struct ag_dump_heap *h);

/*
 * All that follows is for the child, and ends it at any doubt.  Finds the layout of arrays with
 * an Object[] of n elements at these addresses, a byte[] and a long[] with the pattern.
 */
void ag_dump_heap_init(struct ag_dump_heap *h, uint64_t holder, const uint64_t *elements,
		       uint32_t n, uint64_t bytes, uint64_t longs);

/* Read the heap at an address. */
static inline uint32_t ag_dump_word32(uint64_t at)
{
	uint32_t word;

	memcpy(&word, (const char *)(uintptr_t)at, sizeof(word));
	return word;
}

static inline uint64_t ag_dump_word64(uint64_t at)
{
	return ag_word_at((const char *)(uintptr_t)at);
}

/* Returns the address that a reference contains; 0: null. */
static inline uint64_t ag_dump_reference(const struct ag_dump_heap *h, uint64_t at)
{
	uint32_t narrow;

	if (!h->refs.is_narrow)
		return ag_dump_word64(at);
	narrow = ag_dump_word32(at);
	return narrow == 0 ? 0 : h->refs.base + ((uint64_t)narrow << h->refs.shift);
}

/* Returns the number of an object's class. */
static inline uint32_t ag_dump_class_of(const struct ag_dump_heap *h, uint64_t object)
{
	uint32_t key = ag_class_key(&h->probe.header, (const char *)(uintptr_t)object);
	const struct ag_class_slot *slot = ag_class_map_probe(&h->by_key, key);

	if (key == 0 || slot->key == 0)
		ag_exit(AG_CHILD_CLASSES);
	return slot->index;
}

/* Returns the number of the class of a java.lang.Class; AG_DUMP_NONE: it has none. */
uint32_t ag_dump_mirrored(const struct ag_dump_heap *h, uint64_t mirror);
/* Returns whether it is a java.lang.Class, but not that of a primitive type. */
bool ag_dump_is_class(const struct ag_dump_heap *h, uint64_t object);
uint32_t ag_dump_length(const struct ag_dump_heap *h, uint64_t array);
/* Returns the offset of a field in the object, or in the java.lang.Class. */
uint32_t ag_dump_offset(const struct ag_dump_field *field);
/* Sets c->values; all superclasses must be known. */
void ag_dump_prepare(struct ag_dump_heap *h, struct ag_dump_class *c);

/* Marks an object, and stacks it if it was not marked.  0 is null. */
void ag_dump_reach(struct ag_dump_heap *h, uint64_t object);
/* Writes all objects that can be reached from the stacked ones. */
void ag_dump_objects(struct ag_dump_heap *h);
/* Appends a value, of a field at this address, and reaches what it refers to. */
void ag_dump_value(struct ag_dump_heap *h, enum ag_hprof_type type, uint64_t at);

#endif
