/*
 * Divides the resident memory of a JVM into parts.  Every resident byte belongs to one part, so the
 * sum of the parts is the resident memory.  Does no I/O.
 *
 * The address ranges that the JVM reports determine the part of a mapping.  If a mapping is in no
 * range, its file, its name or the adjacent mappings determine its part.  The remaining private
 * anonymous memory counts as malloc's, up to the amount that malloc reports; if malloc reports no
 * amount, all of it counts as malloc's.
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
	/* memory of the collector and the compilers, and other memory that the JVM has reserved */
	PART_GC,
	PART_DIRECT,      /* Unsafe.allocateMemory and direct buffers; only with NMT */
	PART_MALLOC,
	/* memory that malloc retains after free(3); only with glibc, JDK 21 and later */
	PART_MALLOC_FREE,
	PART_ARCHIVE,     /* the archive of class data sharing */
	PART_LIBRARIES,
	PART_MAPPED,      /* other files that the program maps, for example mapped buffers */
	PART_FILES,       /* files that the JVM maps: jars, counters */
	PART_AGENT,       /* jtool's agent */
	PART_UNEXPLAINED,
	N_MEMORY_PARTS,
};

/* Returns the name that tables and JSON use. */
const char *memory_part_name(enum memory_part part);

/* Sizes in bytes; -1: unknown. */
struct memory_size {
	int64_t reserved, committed, used, resident;
	int64_t anonymous; /* resident bytes that the kernel cannot reclaim without swap */
};

struct memory_parts {
	struct memory_size part[N_MEMORY_PARTS];
	int64_t resident, swapped; /* sums over all mappings */
};

/* A function that returns true if the file at `path` is an agent of jtool. */
typedef bool memory_is_agent(const char *path);

void memory_parts_of(const struct mappings *maps, const struct jvm_memory *jvm,
		     memory_is_agent *is_agent, struct memory_parts *parts);

#endif
