/*
 * Identifies an object's class by its klass word, so that classes need no tags.
 *
 * HotSpot passes a pointer to an object's tag to a heap callback of JVMTI.  In HotSpot 8 to 27 that
 * tag is a member of a CallbackWrapper on the stack (jvmtiTagMap.cpp), two words after the member
 * that is the object's address.  So the callback can read the klass word in the object's header.
 * If objects and classes have tags, HotSpot looks up two tags for each object; reading the klass
 * word takes a third of the time of these two look-ups.
 *
 * The JVMTI specification promises none of this.  So a calibration checks it in each JVM, at a
 * safepoint, with 32 new arrays of known class and length:
 * - The wrapper must contain each array's address.
 * - The header must have one of three known layouts.
 * - The java.lang.Class of each of six known classes must hold the Klass address, all at the same
 *   offset.
 * Otherwise the calibration fails and the caller uses tags.
 *
 * The probe dereferences only slots of local references, the objects to which these slots point,
 * and objects that HotSpot reports to a callback.
 */
#ifndef JTOOL_AGENT_JVM_HEAP_KLASS_PROBE_H
#define JTOOL_AGENT_JVM_HEAP_KLASS_PROBE_H

#include <stdint.h>
#include <string.h>

#include "util/class_map.h"
#include "jvm/classes.h"
#include "jvm/heap/self_objects.h"
#include "jvm/jvmti.h"

/*
 * How the key of a class is computed from an instance: (the 8 bytes at `offset` of the instance) >>
 * shift & mask.  If the header holds a complete Klass address, the key is the bits 3 to 34 of this
 * address.  Two classes may then have the same key; in this case ag_klass_probe_map() fails.
 */
struct ag_header {
	unsigned offset, shift;
	uint32_t mask;
	bool full; /* the header holds the complete Klass address */
};

/*
 * How the key of a class is computed from its java.lang.Class: the 8 bytes at mirror_offset of the
 * java.lang.Class are the Klass address, and the key is (address - base) >> shift.
 */
struct ag_encoding {
	unsigned mirror_offset, shift;
	uint64_t base;
};

struct ag_klass_probe {
	struct ag_header header;
	struct ag_encoding encoding;
};

/* Objects whose classes are known.  The calibration derives the probe from them. */
#define AG_KLASS_ARRAYS 32
#define AG_KLASS_SAMPLES 6
struct ag_klass_samples {
	jobject arrays[AG_KLASS_ARRAYS];   /* the first half are int[], the second half long[] */
	jobject samples[AG_KLASS_SAMPLES]; /* objects of different classes */
	jclass mirrors[AG_KLASS_SAMPLES];  /* local references to the samples' java.lang.Class */
	jlong mirror_size;                 /* size of the smallest of `mirrors`, in bytes */
};

/*
 * The two steps of a calibration, for a caller that runs the second step in its own walk.
 * ag_klass_samples_make() creates the samples and adds them to `own`, whose first object must be
 * the agent's thread.  It returns 0; or -1 with the error recorded; or -1 without a recorded error
 * if a reference is not ag_is_plain().  ag_klass_probe_measure() must run in a heap callback, where
 * objects do not move.  It returns false if the probe is not possible in this JVM.
 */
int ag_klass_samples_make(struct ag_jvm *jvm, struct ag_klass_samples *samples,
			  struct ag_self_objects *own);
bool ag_klass_probe_measure(const struct ag_klass_samples *samples,
			    struct ag_klass_probe *probe);

/*
 * Calibrates the probe with a walk of its own.  Returns 1; or 0 if the probe is not possible in
 * this JVM; or -1 if the JVM is shutting down.  Adds the sample objects to `own`.  No object has a
 * tag of the probe afterwards.
 */
int ag_klass_probe_run(struct ag_jvm *jvm, struct ag_self_objects *own,
		       struct ag_klass_probe *probe) __attribute__((warn_unused_result));

/*
 * Returns true if the reference is the unchanged address of a slot, as local references are.  From
 * JDK 13 on HotSpot sets low bits in global and weak references.
 */
static inline bool ag_is_plain(jobject ref)
{
	return ref && ((uintptr_t)ref & (sizeof(void *) - 1)) == 0;
}

/*
 * Maps the key of every class that can have instances to the index of the class in the list.  Call
 * it in a heap callback, where objects do not move.  The references in `classes` must be plain
 * (ag_is_plain()).  Returns false if a class has no Klass address or if two classes have the same
 * key, which proves that the calibration is wrong.
 */
bool ag_klass_probe_map(const struct ag_klass_probe *probe, const struct ag_classes *classes,
			struct ag_class_map *map);

static inline uint64_t ag_word_at(const void *address)
{
	uint64_t word;

	memcpy(&word, address, sizeof(word));
	return word;
}

/*
 * Returns the address of the object to which a plain local reference refers.  The reference points
 * to a slot that contains this address.  The address is valid only in a heap callback, where
 * objects do not move.
 */
static inline const char *ag_object_of(jobject ref)
{
	return (const char *)(uintptr_t)ag_word_at(ref);
}

/* Returns the address of the object that a callback reports, from the callback's tag pointer. */
static inline const char *ag_wrapped_object(const jlong *tag)
{
	return (const char *)(uintptr_t)tag[-2];
}

/*
 * Returns true if the word before the tag is the object's size, as in a CallbackWrapper.  Every
 * callback checks this.
 */
static inline bool ag_wrapper_ok(const jlong *tag, jlong size)
{
	return tag[-1] == size;
}

static inline uint32_t ag_class_key(const struct ag_header *header, const char *object)
{
	return (uint32_t)(ag_word_at(object + header->offset) >> header->shift) & header->mask;
}

#endif
