/* The state of a heap dump.  Private to dump*.c. */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_INTERNAL_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_INTERNAL_H

#include "jvm/dump/dump.h"
#include "jvm/dump/dump_heap.h"
#include "jvm/dump/dump_stacks.h"
#include "jvm/graph/graph_walk.h"
#include "jvm/snapshot/confine.h"

#define AG_DUMP_CONSTANTS 65536 /* maximum entries of a constant pool */

struct ag_dump_root {
	uint64_t address;
	jmethodID method; /* of a local variable or JNI local reference; NULL: none */
	uint32_t thread;  /* index in graph->threads; AG_DUMP_NONE: no thread */
	uint32_t depth;   /* of the stack frame */
	uint8_t tag;      /* enum ag_hprof_sub_tag */
};

struct ag_dump_constant {
	uint64_t address;
	uint32_t index;
};

/* The object whose references HotSpot is reporting. */
struct ag_dump_current {
	uint64_t address; /* 0: none */
	uint32_t class;   /* its class number; of a java.lang.Class: of the class it represents */
	bool is_mirror;
	uint64_t sum;     /* sum of the addresses in its fields or elements, as reported */
	uint32_t n;       /* number of the addresses in `sum` */
	/* Addresses that a java.lang.Class refers to: */
	uint64_t loader, signers, domain;
	uint32_t n_constants;
};

struct ag_dump {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	const struct ag_dump_opts *opts;
	struct ag_dump_result *result;
	struct ag_hprof out;
	const struct ag_classes *list;
	struct ag_graph graph; /* used for its list of threads */
	struct ag_dump_layout layout;
	struct ag_dump_stacks stacks;
	struct ag_dump_heap heap;
	struct ag_self_objects own; /* the last ones are the arrays and their holder */
	struct ag_self_objects sampled;  /* the objects of `samples` */
	struct ag_klass_samples samples;
	jobject bytes, longs;       /* arrays with the values 1 to AG_DUMP_PATTERN */
	struct ag_snapshot snapshot;
	struct ag_walk_order order;
	bool has_new; /* the boot loader has loaded classes since the list was read */
	bool over; /* the walk ends; result->why says why */
	int64_t begin_ns; /* 0: before the first callback */
	uint32_t n_calls;
	uint32_t own_thread, next_thread; /* indices in graph->threads */
	struct ag_dump_root *roots;
	uint32_t n_roots, max_roots;
	/* Used in the child only: */
	struct ag_dump_constant *constants; /* constants of the current java.lang.Class */
	struct ag_dump_current current;
	uint32_t object_class; /* class number of java.lang.Object */
	uint32_t *traces; /* by thread: number of frames that are written */
};

/* For callbacks: stores a root.  Returns false if there is no room. */
bool ag_dump_root(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		  const jvmtiHeapReferenceInfo *info, uint64_t address);
/*
 * In the child: write the records before the heap dump, and the roots at the end of the heap dump.
 */
void ag_dump_write_head(struct ag_dump *d);
void ag_dump_write_roots(struct ag_dump *d);

/* In the child: processes a reference from an object.  Returns what the callback must return. */
jint ag_dump_edge(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		  const jvmtiHeapReferenceInfo *info, uint64_t referrer, uint64_t object);
/* In the child, after the last reference: writes the classes that HotSpot did not report. */
void ag_dump_end_classes(struct ag_dump *d);

#endif
