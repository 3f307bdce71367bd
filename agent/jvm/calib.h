/*
 * Telling an object's class from its klass word, without a tag on every class.
 *
 * JVMTI's heap callbacks get a pointer to the object's tag.  In every HotSpot from 8 to 27 that
 * tag is a member of a CallbackWrapper on the stack (jvmtiTagMap.cpp), two words behind the
 * object's address.  With the address, the klass word of the object's header names its class at
 * a third of the cost of HotSpot's two tag look-ups an object.
 *
 * None of this is promised by anyone, so none of it is assumed: in this very JVM, at a safepoint,
 * on 32 fresh arrays of known class and length, the wrapper must show each array's address, the
 * header must have one of the three known layouts, and java.lang.Class must hold the Klass
 * address in one and the same place for six known classes.  Any doubt: no calibration, and the
 * caller counts by tags.  Nothing is dereferenced but what the JVM itself has just named: local
 * references' slots, the objects in them, and objects reported to a callback.
 */
#ifndef JTOOL_AGENT_JVM_CALIB_H
#define JTOOL_AGENT_JVM_CALIB_H

#include <stdint.h>
#include <string.h>

#include "base/map.h"
#include "jvm/classes.h"
#include "jvm/own.h"
#include "jvm/ti.h"

/*
 * A class's key = (8 bytes of an instance at offset) >> shift & mask.  32 bits are enough: of a
 * full Klass address, bits 3 to 34 count, and should two classes share them, calibration fails.
 */
struct ag_header {
	unsigned offset, shift;
	uint32_t mask;
	bool full; /* the header holds the address itself */
};

/* The same key = (Klass address - base) >> shift; java.lang.Class holds the address. */
struct ag_encoding {
	unsigned mirror_offset, shift;
	uint64_t base;
};

struct ag_calib {
	struct ag_header header;
	struct ag_encoding encoding;
};

/*
 * 1: calibrated.  0: not possible here.  -1: the JVM is leaving.  The arrays are added to our own
 * objects; the tags that they had are taken off.
 */
int ag_calibrate(struct ag_jvm *jvm, struct ag_own *own, struct ag_calib *calib)
	__attribute__((warn_unused_result));

/* From JDK 13 a reference's low bits tell global and weak ones, which are no plain addresses. */
static inline bool ag_is_plain(jobject ref)
{
	return ref && ((uintptr_t)ref & (sizeof(void *) - 1)) == 0;
}

/*
 * Put every class that can have instances into a map from its key to its index in the list.
 * Only in a heap callback, where no object moves, and only with plain references.  False: a
 * class does not fit in, so the calibration was a mistake.
 */
bool ag_calib_map(const struct ag_calib *calib, const struct ag_classes *classes,
		  struct ag_map *map);

static inline uint64_t ag_word_at(const void *address)
{
	uint64_t word;

	memcpy(&word, address, sizeof(word));
	return word;
}

/*
 * The address of the object that a plain local reference stands for, which is the address of a
 * slot that holds it.  In a heap callback only: there it stays true.
 */
static inline const char *ag_object_of(jobject ref)
{
	return (const char *)(uintptr_t)ag_word_at(ref);
}

/* The address of the object that a callback is told of, by its tag pointer. */
static inline const char *ag_wrapped_object(const jlong *tag)
{
	return (const char *)(uintptr_t)tag[-2];
}

/* The wrapper holds the size between the two: that it does is checked at every object. */
static inline bool ag_wrapper_ok(const jlong *tag, jlong size)
{
	return tag[-1] == size;
}

static inline uint32_t ag_class_key(const struct ag_header *header, const char *object)
{
	return (uint32_t)(ag_word_at(object + header->offset) >> header->shift) & header->mask;
}

#endif
