#include "jvm/snapshot/walk_order.h"

#include <string.h>
#include <sys/mman.h>

#include "jvm/heap/klass_probe.h"
#include "jvm/jni_refs.h"

#define TABLE_FIRST 2 /* index of the first noted root in the table */
#define SHIFT_MAX 5 /* supports object alignments up to 2^5 bytes; HotSpot permits up to 2^8 */
#define OFFSET_MIN 8
#define OFFSET_MAX 32

static jobjectArray new_array(struct ag_jvm *jvm, jclass class, uint32_t n, jobject first)
{
	jobjectArray array = (*jvm->jni)->NewObjectArray(jvm->jni, (jsize)n, class, NULL);

	if (ag_ref_threw(jvm, "NewObjectArray"))
		return NULL;
	(*jvm->jni)->SetObjectArrayElement(jvm->jni, array, 0, first);
	if (!ag_ref_threw(jvm, "SetObjectArrayElement"))
		return array;
	ag_ref_drop(jvm, array);
	return NULL;
}

static int make_arrays(struct ag_jvm *jvm, struct ag_walk_order *o, jclass class, jobject first)
{
	o->last = (*jvm->jni)->NewIntArray(jvm->jni, 0);
	if (ag_ref_threw(jvm, "NewIntArray")) {
		o->last = NULL;
		return -1;
	}
	o->tail = new_array(jvm, class, 1, o->last);
	if (o->tail)
		o->table = new_array(jvm, class, o->room, first);
	return o->table ? 0 : -1;
}

/*
 * Allocates the map of the noted roots.  Uses mmap() and not ag_alloc(), because the size of the
 * map exceeds the budget of ag_alloc().  Only the pages of the map that are used take memory.
 */
static int make_map(struct ag_jvm *jvm, struct ag_walk_order *o)
{
	unsigned bits = 4;
	void *slots;

	while (((uint64_t)1 << bits) < (uint64_t)o->room * 2)
		bits++;
	slots = mmap(NULL, sizeof(struct ag_hash_entry) << bits, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (slots == MAP_FAILED)
		return ag_fail_memory(jvm);
	o->noted = (struct ag_hash_map){
		.slots = slots,
		.shift = 64 - bits,
		.max = o->room - TABLE_FIRST,
	};
	return 0;
}

int ag_walk_order_make(struct ag_jvm *jvm, struct ag_walk_order *o, uint32_t room, jobject first)
{
	jclass array = ag_ref_class(jvm, first);
	jclass class = array ? ag_ref_super(jvm, array) : NULL;
	int rc = -1;

	*o = (struct ag_walk_order){ .room = room };
	if (class && make_arrays(jvm, o, class, first) == 0)
		rc = make_map(jvm, o);
	ag_ref_drop(jvm, array);
	ag_ref_drop(jvm, class);
	return rc;
}

void ag_walk_order_release(struct ag_jvm *jvm, struct ag_walk_order *o)
{
	ag_ref_drop(jvm, o->table);
	ag_ref_drop(jvm, o->tail);
	ag_ref_drop(jvm, o->last);
	if (o->noted.slots)
		/* cannot fail: make_map() has mapped exactly this range */
		(void)munmap(o->noted.slots, ag_hash_map_slots(&o->noted) *
						     sizeof(struct ag_hash_entry));
	*o = (struct ag_walk_order){ 0 };
}

void ag_walk_order_begin(struct ag_walk_order *o)
{
	o->table_at = (uint64_t)(uintptr_t)ag_object_of(o->table);
	o->tail_at = (uint64_t)(uintptr_t)ag_object_of(o->tail);
}

/*
 * Decides what the callback does with a reference.
 *
 * Before the elements of the table, HotSpot reports the reference from the table to its class,
 * Object[].  The callback skips this reference, because otherwise HotSpot would push the class
 * before the tail and pop the class after the tail.  HotSpot visits the class later, because the
 * first element of the table is an Object[] as well, and so refers to the same class.
 */
enum ag_walk_step ag_walk_order_step(const struct ag_walk_order *o, jvmtiHeapReferenceKind kind,
				     uint64_t referrer, uint64_t object, uint32_t index)
{
	bool is_element = kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT;

	if (referrer == 0 && o->all_roots)
		return AG_STEP_VISIT; /* a root in the stack of a virtual thread */
	if (referrer == 0)
		return object == o->table_at ? AG_STEP_ACCEPT : AG_STEP_NOTE;
	if (referrer == o->table_at) {
		if (!is_element)
			return AG_STEP_SKIP;
		if (index > 0)
			return o->all_roots ? AG_STEP_ACCEPT : AG_STEP_LOST;
		return o->all_roots ? AG_STEP_LOST : AG_STEP_FILL;
	}
	if (!o->all_roots)
		return AG_STEP_LOST;
	if (referrer == o->tail_at)
		return is_element ? AG_STEP_END : AG_STEP_SKIP;
	return AG_STEP_VISIT;
}

bool ag_walk_order_note(struct ag_walk_order *o, uint64_t object)
{
	if (object == o->tail_at)
		return true; /* not noted: ag_walk_order_fill() stores the tail in any case */
	return ag_hash_map_add(&o->noted, object, 0) || o->noted.n < o->noted.max;
}

static void write_element(const struct ag_array_layout *l, uint64_t array, uint32_t index,
			  uint64_t object)
{
	char *first = (char *)(uintptr_t)(array + l->offset);
	uint32_t narrow = (uint32_t)((object - l->base) >> l->shift);

	if (l->is_narrow)
		memcpy(first + 4 * (size_t)index, &narrow, sizeof(narrow));
	else
		memcpy(first + 8 * (size_t)index, &object, sizeof(object));
}

void ag_walk_order_fill(struct ag_walk_order *o, const struct ag_array_layout *layout)
{
	uint32_t index = TABLE_FIRST;

	write_element(layout, o->table_at, 1, o->tail_at);
	for (size_t i = 0; i < ag_hash_map_slots(&o->noted); i++) {
		if (o->noted.slots[i].key != 0)
			write_element(layout, o->table_at, index++, o->noted.slots[i].key);
	}
	o->all_roots = true;
}

static uint64_t read_element(const struct ag_array_layout *l, uint64_t array, uint32_t index)
{
	const char *first = (const char *)(uintptr_t)(array + l->offset);
	uint32_t narrow;

	if (!l->is_narrow)
		return ag_word_at(first + 8 * (size_t)index);
	memcpy(&narrow, first + 4 * (size_t)index, sizeof(narrow));
	return l->base + ((uint64_t)narrow << l->shift);
}

static bool fits(const struct ag_array_layout *l, uint64_t array, const uint64_t *elements,
		 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (read_element(l, array, i) != elements[i])
			return false;
	}
	return true;
}

bool ag_array_layout_find(struct ag_array_layout *layout, uint64_t array, const uint64_t *elements,
			  uint32_t n)
{
	for (unsigned offset = OFFSET_MIN; offset <= OFFSET_MAX; offset += 4) {
		*layout = (struct ag_array_layout){ .offset = offset };
		if (fits(layout, array, elements, n))
			return true;
		for (unsigned shift = 0; shift <= SHIFT_MAX; shift++) {
			*layout = (struct ag_array_layout){ offset, true, shift, 0 };
			layout->base = elements[0] - read_element(layout, array, 0);
			if (fits(layout, array, elements, n))
				return true;
		}
	}
	return false;
}
