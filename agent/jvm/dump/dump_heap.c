/*
 * Optimised for speed, because as long as the child lives, the kernel copies each page that the
 * application changes.
 */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/dump/dump_heap.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ADDRESS_BITS 48 /* x86-64: 47; aarch64: 48 */
#define REGION_BITS 30 /* log2 of the bytes of heap that one region of marks covers */
#define REGIONS ((size_t)1 << (ADDRESS_BITS - REGION_BITS))
#define REGION_SIZE ((size_t)1 << (REGION_BITS - 6)) /* bytes; one bit for each 8 bytes of heap */
#define STACK_FIRST ((size_t)1 << 17)
#define VALUES_SIZE ((size_t)64 << 20)
#define AHEAD 16 /* number of objects by which a prefetch precedes the visit */
#define STEP 256 /* number of objects between two increments of *progress */
#define CHUNK 4096 /* bytes that are converted before they are written with one call */
#define MARK_MOVED 3u /* low bits of the mark word of an object that a collector has moved */

/* Bytes of a sub-record between its tag and its field values or elements. */
#define INSTANCE_HEADER (8 + 4 + 8 + 4)
#define OBJECTS_HEADER (8 + 4 + 4 + 8)
#define PRIMITIVES_HEADER (8 + 4 + 4 + 1)

void *ag_dump_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int ag_dump_heap_reserve(struct ag_dump_heap *h)
{
	h->marks = ag_dump_map(REGIONS * sizeof(*h->marks));
	h->stack = ag_dump_map(STACK_FIRST * sizeof(*h->stack));
	h->values = ag_dump_map(VALUES_SIZE);
	h->cap = STACK_FIRST;
	h->values_end = h->values + VALUES_SIZE;
	return h->marks && h->stack && h->values ? 0 : ENOMEM;
}

void ag_dump_unmap(void *p, size_t size)
{
	if (p)
		(void)munmap(p, size); /* cannot fail for these mappings */
}

/* For the JVM, where no region is mapped and the stack has its first size. */
void ag_dump_heap_release(struct ag_dump_heap *h)
{
	ag_dump_unmap(h->marks, REGIONS * sizeof(*h->marks));
	ag_dump_unmap(h->stack, STACK_FIRST * sizeof(*h->stack));
	ag_dump_unmap(h->values, VALUES_SIZE);
}

static void grow_stack(struct ag_dump_heap *h)
{
	size_t size = h->cap * sizeof(*h->stack);
	long more = syscall(SYS_mremap, h->stack, size, size * 2, MREMAP_MAYMOVE);

	if (more == -1)
		ag_exit(AG_CHILD_ROOM);
	h->stack = (uint64_t *)more;
	h->cap *= 2;
}

static uint64_t *new_region(struct ag_dump_heap *h, uint64_t object)
{
	uint64_t *region;

	if (object >> ADDRESS_BITS)
		ag_exit(AG_CHILD_LAYOUT);
	region = ag_dump_map(REGION_SIZE);
	if (!region)
		ag_exit(AG_CHILD_ROOM);
	h->marks[object >> REGION_BITS] = region;
	return region;
}

static inline void reach(struct ag_dump_heap *h, uint64_t object)
{
	uint64_t *region, bit;
	size_t word;

	if (object == 0)
		return;
	region = h->marks[object >> REGION_BITS & (REGIONS - 1)];
	if (!region || object >> ADDRESS_BITS)
		region = new_region(h, object);
	word = (object & (((uint64_t)1 << REGION_BITS) - 1)) >> 9;
	bit = (uint64_t)1 << (object >> 3 & 63);
	if (region[word] & bit)
		return;
	region[word] |= bit;
	if (h->n == h->cap)
		grow_stack(h);
	h->stack[h->n++] = object;
}

void ag_dump_reach(struct ag_dump_heap *h, uint64_t object)
{
	reach(h, object);
}

void ag_dump_skip(struct ag_dump_heap *h, uint64_t object)
{
	size_t n = h->n;

	reach(h, object);
	h->n = n;
}

static inline uint8_t *put16(uint8_t *to, uint64_t at)
{
	uint16_t value;

	memcpy(&value, (const char *)(uintptr_t)at, sizeof(value));
	value = __builtin_bswap16(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static inline uint8_t *put_u4(uint8_t *to, uint32_t value)
{
	value = __builtin_bswap32(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static inline uint8_t *put_u8(uint8_t *to, uint64_t value)
{
	value = __builtin_bswap64(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static inline uint8_t *put_value(struct ag_dump_heap *h, uint8_t *to, enum ag_hprof_type type,
				 uint64_t at)
{
	uint64_t object;

	switch (type) {
	case AG_HPROF_OBJECT:
		object = ag_dump_reference(h, at);
		reach(h, object);
		return put_u8(to, object);
	case AG_HPROF_INT:
	case AG_HPROF_FLOAT:
		return put_u4(to, ag_dump_word32(at));
	case AG_HPROF_LONG:
	case AG_HPROF_DOUBLE:
		return put_u8(to, ag_dump_word64(at));
	case AG_HPROF_CHAR:
	case AG_HPROF_SHORT:
		return put16(to, at);
	default:
		*to = *(const uint8_t *)(uintptr_t)at;
		return to + 1;
	}
}

void ag_dump_value(struct ag_dump_heap *h, enum ag_hprof_type type, uint64_t at)
{
	uint8_t value[8];

	ag_hprof_put(h->out, value, (size_t)(put_value(h, value, type, at) - value));
}

/*
 * Returns the memory for a sub-record of `size` bytes, tag included, in the current segment or, if
 * that has no room, in a new one.  `size` is at most AG_HPROF_SEGMENT_MAX.
 */
static inline uint8_t *room(struct ag_hprof *out, size_t size)
{
	uint8_t *at;

	if (out->len + size > AG_HPROF_SEGMENT_MAX)
		ag_hprof_end_segment(out);
	at = out->segment + out->len;
	out->len += size;
	return at;
}

/*
 * Writes an instance.  The fields that one class declares fit into a segment: they are at most
 * 65,535 fields of 8 bytes, which is half a segment.  If an instance exceeds a segment because of
 * inherited fields, the child ends.
 */
static inline void put_instance(struct ag_dump_heap *h, struct ag_dump_class *c, uint64_t object)
{
	const struct ag_dump_value *v;
	uint8_t *at;

	if (!c->has_values)
		ag_dump_prepare(h, c);
	if (1 + INSTANCE_HEADER + (size_t)c->data_len > AG_HPROF_SEGMENT_MAX)
		ag_exit(AG_CHILD_LAYOUT);
	at = room(h->out, 1 + INSTANCE_HEADER + c->data_len);
	*at++ = AG_HPROF_INSTANCE_DUMP;
	at = put_u8(at, object);
	at = put_u4(at, AG_HPROF_NO_TRACE);
	at = put_u8(at, c->address);
	at = put_u4(at, c->data_len);
	v = c->values;
	for (uint32_t i = 0; i < c->n_values; i++)
		at = put_value(h, at, (enum ag_hprof_type)v[i].type, object + v[i].offset);
}

/* Writes n elements, which begin at `from` and have `size` bytes each in the heap. */
static void put_elements(struct ag_dump_heap *h, enum ag_hprof_type type, unsigned size,
			 uint64_t from, uint64_t n)
{
	uint8_t chunk[CHUNK], *at = chunk;

	if (ag_hprof_size_of(type) == 1) {
		ag_hprof_put(h->out, (const char *)(uintptr_t)from, n);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		at = put_value(h, at, type, from + i * size);
		if (at > chunk + CHUNK - 8) {
			ag_hprof_put(h->out, chunk, (size_t)(at - chunk));
			at = chunk;
		}
	}
	ag_hprof_put(h->out, chunk, (size_t)(at - chunk));
}

/*
 * Returns how many elements of an array are written.  Each has `size` bytes in the dump.  A record
 * has less than 4 GiB, so only the first elements of a longer array are written, as in the JVM's
 * own dump.
 */
static uint32_t length_of(const struct ag_dump_heap *h, uint64_t array, size_t header,
			  unsigned size)
{
	uint64_t max = (UINT32_MAX - 1 - header) / size;
	uint32_t n = ag_dump_length(h, array);

	return n < max ? n : (uint32_t)max;
}

static void put_objects(struct ag_dump_heap *h, const struct ag_dump_class *c, uint64_t array)
{
	uint32_t n = length_of(h, array, OBJECTS_HEADER, AG_HPROF_ID);

	ag_hprof_sub(h->out, AG_HPROF_OBJECTS_DUMP,
		     1 + OBJECTS_HEADER + (size_t)n * AG_HPROF_ID);
	ag_hprof_u8(h->out, array);
	ag_hprof_u4(h->out, AG_HPROF_NO_TRACE);
	ag_hprof_u4(h->out, n);
	ag_hprof_u8(h->out, c->address);
	put_elements(h, AG_HPROF_OBJECT, h->refs.is_narrow ? 4 : 8, array + h->refs.offset, n);
}

static void put_primitives(struct ag_dump_heap *h, const struct ag_dump_class *c, uint64_t array)
{
	enum ag_hprof_type type = (enum ag_hprof_type)c->element;
	unsigned size = ag_hprof_size_of(type);
	uint32_t n = length_of(h, array, PRIMITIVES_HEADER, size);

	ag_hprof_sub(h->out, AG_HPROF_PRIMITIVES_DUMP,
		     1 + PRIMITIVES_HEADER + (size_t)n * size);
	ag_hprof_u8(h->out, array);
	ag_hprof_u4(h->out, AG_HPROF_NO_TRACE);
	ag_hprof_u4(h->out, n);
	ag_hprof_u1(h->out, type);
	put_elements(h, type, size, array + (size == 8 ? h->large_at : h->small_at), n);
}

/*
 * Handles the java.lang.Class of a class that is not in the class list.  If it has a loader, the
 * class was loaded after the list was read: the child ends.  If it has none, either the boot loader
 * has loaded the class since, or the class is not loaded (it is only in a class-data archive, for
 * example).  The child does not know which: it counts the class in n_unknown, and take_end() in
 * dump_relay.c decides whether the dump is complete.
 */
static void look_at_mirror(struct ag_dump_heap *h, uint64_t mirror)
{
	const struct ag_dump_field *loader = &h->layout->fields[h->layout->class_loader];

	if (!ag_dump_is_class(h, mirror) || ag_dump_mirrored(h, mirror) != AG_DUMP_NONE)
		return;
	if (ag_dump_reference(h, mirror + ag_dump_offset(loader)) != 0)
		ag_exit(AG_CHILD_CLASSES);
	h->n_unknown++;
}

/* Calls reach() for each object to which a field of the instance refers. */
static inline void follow_fields(struct ag_dump_heap *h, struct ag_dump_class *c, uint64_t object)
{
	if (!c->has_values)
		ag_dump_prepare(h, c);
	for (uint32_t i = 0; i < c->n_values; i++) {
		if (c->values[i].type == AG_HPROF_OBJECT)
			reach(h, ag_dump_reference(h, object + c->values[i].offset));
	}
}

/*
 * Visits a java.lang.Class.  The CLASS_DUMP does not contain the instance fields of
 * java.lang.Class, but the objects to which they refer are dumped.
 */
static void follow_mirror(struct ag_dump_heap *h, struct ag_dump_class *c, uint64_t mirror)
{
	if (!ag_dump_is_class(h, mirror)) {
		put_instance(h, c, mirror);
		return;
	}
	look_at_mirror(h, mirror);
	follow_fields(h, c, mirror);
}

static void follow_elements(struct ag_dump_heap *h, uint64_t array)
{
	uint64_t at = array + h->refs.offset, end;
	unsigned size = h->refs.is_narrow ? 4 : 8;

	for (end = at + (uint64_t)ag_dump_length(h, array) * size; at < end; at += size)
		reach(h, ag_dump_reference(h, at));
}

static inline void count(struct ag_dump_heap *h, struct ag_dump_class *c, uint64_t object)
{
	struct ag_tally *tally = &h->tallies[c - h->layout->classes];

	tally->instances++;
	tally->bytes += ag_dump_size(h, c, object);
	if (c->kind == AG_DUMP_OBJECTS)
		follow_elements(h, object);
	else if (c->kind != AG_DUMP_PRIMITIVES)
		follow_fields(h, c, object);
	if (c->kind == AG_DUMP_CLASS)
		look_at_mirror(h, object);
}

static inline void visit(struct ag_dump_heap *h, uint64_t object)
{
	uint64_t mark = ag_dump_word64(object);
	struct ag_dump_class *c;

	/*
	 * A mark word of exactly 3 does not mean a moved object, because until JDK 17 HotSpot's
	 * walk stores this value in each object that it visits.
	 */
	if ((mark & MARK_MOVED) == MARK_MOVED && mark != MARK_MOVED)
		ag_exit(AG_CHILD_MOVED);
	c = &h->layout->classes[ag_dump_class_of(h, object)];
	if (h->tallies && c->kind != AG_DUMP_STACK && c->kind != AG_DUMP_UNKNOWN) {
		count(h, c, object);
		return;
	}
	switch ((enum ag_dump_kind)c->kind) {
	case AG_DUMP_INSTANCE:
		put_instance(h, c, object);
		break;
	case AG_DUMP_PRIMITIVES:
		put_primitives(h, c, object);
		break;
	case AG_DUMP_OBJECTS:
		put_objects(h, c, object);
		break;
	case AG_DUMP_CLASS:
		follow_mirror(h, c, object);
		break;
	case AG_DUMP_STACK:
		ag_exit(AG_CHILD_STACKS);
	case AG_DUMP_UNKNOWN:
		ag_exit(AG_CHILD_UNLINKED);
	}
}

/* Prefetches each object when it is taken from the stack, and visits it AHEAD steps later. */
void ag_dump_objects(struct ag_dump_heap *h)
{
	uint64_t ahead[AHEAD] = { 0 };
	unsigned waiting = 0;

	for (uint64_t i = 0; h->n > 0 || waiting > 0; i++) {
		uint64_t object = ahead[i % AHEAD];

		if (object != 0) {
			ahead[i % AHEAD] = 0;
			waiting--;
			visit(h, object);
		}
		if (h->n > 0) {
			object = h->stack[--h->n];
			__builtin_prefetch((const void *)(uintptr_t)object);
			ahead[i % AHEAD] = object;
			waiting++;
		}
		if (i % STEP == 0)
			++*h->progress;
	}
}
