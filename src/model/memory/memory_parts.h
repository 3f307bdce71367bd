/*
 * Divides the resident memory of a JVM: every mapping belongs to one part, so the parts add up to
 * the resident memory.  Pure.
 *
 * A mapping belongs to the part that the JVM reports for its addresses, or that its file, its name
 * or adjacent mappings imply.  The remaining private anonymous memory is malloc's, up to the amount
 * that malloc reports; without a report, all of it.
 */
#ifndef JTOOL_MODEL_MEMORY_MEMORY_PARTS_H
#define JTOOL_MODEL_MEMORY_MEMORY_PARTS_H

#include "model/memory/jvm_memory.h"
#include "model/memory/mappings.h"

enum memory_part {
	PART_HEAP,
	PART_METASPACE,
	PART_CLASS_SPACE,
	PART_CODE,
	PART_STACKS,
	PART_GC,          /* collector, compilers, and other reserved memory of the JVM */
	PART_DIRECT,      /* Unsafe.allocateMemory, direct buffers: only with NMT */
	PART_MALLOC,
	PART_MALLOC_FREE, /* freed by the program and not returned: only glibc, JDK 21 and later */
	PART_ARCHIVE,     /* class data sharing */
	PART_LIBRARIES,
	PART_MAPPED,      /* other files that the program maps: mapped buffers */
	PART_FILES,       /* of the JVM: jars, counters */
	PART_AGENT,       /* jtool's own */
	PART_UNEXPLAINED,
	N_MEMORY_PARTS,
};

/* Returns the name in tables and in JSON. */
const char *memory_part_name(enum memory_part part);

/* Bytes; -1: unknown. */
struct memory_size {
	int64_t reserved, committed, used, resident;
	int64_t anonymous; /* resident bytes that the kernel cannot reclaim without swap */
};

struct memory_parts {
	struct memory_size part[N_MEMORY_PARTS];
	int64_t resident, swapped; /* sums over all mappings */
};

/* Returns true for the file of an agent of jtool. */
typedef bool memory_is_agent(const char *path);

void memory_parts_of(const struct mappings *maps, const struct jvm_memory *jvm,
		     memory_is_agent *is_agent, struct memory_parts *parts);

#endif
