/*
 * Reads the heap in the child of a snapshot (snapshot/snapshot.h), where the heap does not change,
 * and visits each reachable object once.
 *
 * HotSpot's walk takes 50 to 100 ns a reference, in one thread.  The child knows the layout of all
 * classes, so it needs HotSpot's walk for the roots and the classes only.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_HEAP_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_HEAP_H

#include "jvm/dump/dump_layout.h"
#include "jvm/heap/klass_probe.h"
#include "jvm/snapshot/confine.h"
#include "jvm/snapshot/snapshot.h"
#include "jvm/snapshot/walk_order.h"

#define AG_DUMP_WORD 8 /* size in bytes of a HotSpot word, the unit of object sizes */

/* Length of the byte[] and the long[] with the elements 1, 2, … for ag_dump_heap_init(). */
#define AG_DUMP_PATTERN 37

struct ag_dump_heap {
	struct ag_dump_layout *layout;
	struct ag_klass_probe probe;
	struct ag_class_map by_key; /* ag_class_key() → number of the class */
	struct ag_hash_map by_address; /* address of a java.lang.Class → number of the class */
	struct ag_array_layout refs; /* layout of references in arrays and fields */
	unsigned length_at;   /* offset of an array's length */
	/*
	 * offset of a primitive array's first element: large_at if elements have 8 bytes, else
	 * small_at
	 */
	unsigned small_at, large_at;

	/* one bitmap for each region of the heap, a bit for each 8 bytes; NULL: not mapped yet */
	uint64_t **marks;
	uint64_t *stack;  /* addresses of objects that are marked but not yet visited */
	size_t n, cap;    /* number of addresses on the stack; maximum that it has room for */
	uint8_t *values, *values_end; /* memory that is left for ag_dump_class.values */
	uint32_t n_unknown; /* number of visited boot loader classes that the class list lacks */
	struct ag_hprof *out;
	struct ag_tally *tallies; /* tallies[i] counts class i's objects; NULL: write to `out` */
	uint64_t sizes;   /* bitwise OR of the sizes of all objects that HotSpot has reported */
	uint64_t padding; /* alignment of objects in bytes, minus 1 */
	/* bit i: in each java.lang.Class so far, the 4 bytes at 4 * i are its size in words */
	uint64_t size_offsets;
	unsigned size_at; /* offset at which a java.lang.Class has its size; 0: not known yet */
	volatile uint64_t *progress; /* incremented while the child visits objects */
};

/*
 * Maps zeroed memory, of which only the written pages take up room.  Does not use malloc(): if
 * another thread holds a lock of malloc() when the child is cloned, the lock is never released in
 * the child.  Returns NULL if there is no address space.
 */
void *ag_dump_map(size_t size);
void ag_dump_unmap(void *p, size_t size); /* p may be NULL */

/*
 * In the JVM: maps the memory of the marks, the stack and the values without touching it.  Returns
 * 0 or an errno.
 */
int ag_dump_heap_reserve(struct ag_dump_heap *h);
void ag_dump_heap_release(struct ag_dump_heap *h);

/*
 * Finds the layout of arrays from three arrays of known contents: the Object[] `holder`, which
 * refers to the n objects at the addresses `elements`; and the byte[] `bytes` and the long[]
 * `longs`, whose elements are 1 to AG_DUMP_PATTERN.
 *
 * This function and all below run in the child, and end the child if anything is inconsistent.
 */
void ag_dump_heap_init(struct ag_dump_heap *h, uint64_t holder, const uint64_t *elements,
		       uint32_t n, uint64_t bytes, uint64_t longs);

/* Read the 4 or 8 bytes of the heap at the address `at`. */
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

/* Returns the address of the object to which the reference at `at` refers, or 0 if it is null. */
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

/*
 * Returns the number of the class whose java.lang.Class is at the address `mirror`, or AG_DUMP_NONE
 * if that class is not in the class list (ag_dump.list).
 */
uint32_t ag_dump_mirrored(const struct ag_dump_heap *h, uint64_t mirror);
/* Returns true if the object is a java.lang.Class, but not that of a primitive type. */
bool ag_dump_is_class(const struct ag_dump_heap *h, uint64_t object);
uint32_t ag_dump_length(const struct ag_dump_heap *h, uint64_t array);
/* Returns a field's offset: in the object or, for a static field, in the java.lang.Class. */
uint32_t ag_dump_offset(const struct ag_dump_field *field);
/* Computes c->values and c->data_len.  The members `super` of all superclasses must be set. */
void ag_dump_prepare(struct ag_dump_heap *h, struct ag_dump_class *c);

/* Marks an object, and pushes it on the stack if it was not marked yet.  Ignores 0 (null). */
void ag_dump_reach(struct ag_dump_heap *h, uint64_t object);
/* Writes or counts all objects that are reachable from the objects on the stack. */
void ag_dump_objects(struct ag_dump_heap *h);

/*
 * For a count of the objects (dump_count.c).  The child computes the size of an object from the
 * layout helper in the object's Klass (klass.hpp), and compares the result with the size that
 * HotSpot reports for some objects.
 */

/*
 * Computes the size of an object, and ends the child if HotSpot reports another size.  For a
 * java.lang.Class, removes from h->size_offsets the offsets that do not have the reported size.
 */
void ag_dump_count_verify(struct ag_dump_heap *h, uint64_t object, uint64_t size);
/* Begins the count.  Call it when HotSpot has reported the last object. */
void ag_dump_count_begin(struct ag_dump_heap *h);

/*
 * Returns the size in bytes of an object of this class.  A java.lang.Class has its own size in an
 * injected field (java_lang_Class::oop_size), because its static fields follow its instance fields.
 * The size of any other object follows from the layout helper of its class.  If the layout helper
 * is not negative, it is the size of an instance, with flags in bits 0 to 2.  If it is negative, it
 * has the size of an array's header in bits 16 to 23, and log2 of the element size in bits 0 to 5.
 */
static inline uint64_t ag_dump_size(const struct ag_dump_heap *h, const struct ag_dump_class *c,
				    uint64_t object)
{
	uint32_t helper = (uint32_t)c->layout_helper;
	uint64_t size;

	if (c->kind == AG_DUMP_CLASS && h->size_at != 0)
		return (uint64_t)ag_dump_word32(object + h->size_at) * AG_DUMP_WORD;
	if (c->layout_helper >= 0)
		return helper & ~7u;
	size = (helper >> 16 & 255) + ((uint64_t)ag_dump_length(h, object) << (helper & 63));
	return (size + h->padding) & ~h->padding;
}
/* Marks an object, which is then neither written nor counted. */
void ag_dump_skip(struct ag_dump_heap *h, uint64_t object);
/*
 * Writes the value of a field at this address.  If the value is a reference, calls ag_dump_reach()
 * for the object.
 */
void ag_dump_value(struct ag_dump_heap *h, enum ag_hprof_type type, uint64_t at);

#endif
