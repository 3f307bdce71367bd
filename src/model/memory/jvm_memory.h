/*
 * Parses the address ranges and amounts that a JVM reports about its memory.  The reports are
 * answers of JDK 8 to 27 to diagnostic commands, and are untrusted.  Values that a JVM does not
 * report stay unknown.  Does no I/O.
 */
#ifndef JTOOL_MODEL_MEMORY_JVM_MEMORY_H
#define JTOOL_MODEL_MEMORY_JVM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum jvm_range_kind { JVM_RANGE_HEAP, JVM_RANGE_METASPACE, JVM_RANGE_CLASS, JVM_RANGE_CODE };

struct jvm_range {
	enum jvm_range_kind kind;
	uint64_t start, end;
};
/* maximum number of ranges of a JVM; metaspace has a range for each node of 8 to 64 MB */
#define JVM_RANGES_MAX 4096

/* Amounts are in bytes; -1: unknown. */
struct jvm_memory {
	struct jvm_range *ranges;
	size_t n_ranges, cap_ranges;
	int64_t heap_used, heap_max;
	int64_t metaspace_used, metaspace_committed; /* including class space */
	int64_t metaspace_max; /* -XX:MaxMetaspaceSize, including class space */
	int64_t class_used, class_committed;
	int64_t code_used;
	/*
	 * From glibc's malloc: bytes of all arenas, free bytes in the arenas, and bytes of blocks
	 * that have a mapping of their own.
	 */
	int64_t malloc_arenas, malloc_free, malloc_mapped;
	/* From Native Memory Tracking: */
	bool has_nmt;
	int64_t nmt_malloc;  /* all memory that the JVM has from malloc */
	int64_t nmt_gc;      /* memory that the collector and the compilers have from mmap */
	int64_t nmt_gc_malloc; /* memory that the collector and the compilers have from malloc */
	/* from Unsafe.allocateMemory(), which direct buffers use; -1 before JDK 11 */
	int64_t nmt_other;
};

void jvm_memory_init(struct jvm_memory *m);
void jvm_memory_release(struct jvm_memory *m);

/*
 * Each function parses the answer to the diagnostic command that the comment after it names, and
 * skips unknown lines.
 */
void jvm_memory_heap_info(struct jvm_memory *m, const char *text);   /* GC.heap_info */
void jvm_memory_metaspace(struct jvm_memory *m, const char *text);   /* VM.metaspace vslist */
void jvm_memory_flags(struct jvm_memory *m, const char *text);       /* VM.flags */
void jvm_memory_code_cache(struct jvm_memory *m, const char *text);  /* Compiler.codecache */
void jvm_memory_native_heap(struct jvm_memory *m, const char *text); /* System.native_heap_info */
void jvm_memory_tracking(struct jvm_memory *m, const char *text);    /* VM.native_memory */

#endif
