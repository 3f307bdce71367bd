/* The state of a heap dump.  Private to dump*.c. */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_INTERNAL_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_INTERNAL_H

#include "jvm/dump/dump.h"
#include "jvm/dump/dump_heap.h"
#include "jvm/dump/dump_stacks.h"
#include "jvm/graph/graph_walk.h"
#include "jvm/snapshot/confine.h"

#define AG_DUMP_CONSTANTS 65536 /* entries of a constant pool */

struct ag_dump_root {
	uint64_t address;
	jmethodID method; /* of a local; NULL: none */
	uint32_t thread;  /* index in graph->threads; AG_DUMP_NONE */
	uint32_t depth;   /* of the frame */
	uint8_t tag;      /* enum ag_hprof_sub_tag */
};

struct ag_dump_constant {
	uint64_t address;
	uint32_t index;
};

/* The object whose references HotSpot reports. */
struct ag_dump_current {
	uint64_t address; /* 0: none */
	uint32_t class;   /* that it mirrors, if is_mirror, else its own */
	bool is_mirror;
	uint64_t sum;     /* of the addresses that its fields or elements contain */
	uint32_t n;       /* number of these */
	/* Of a java.lang.Class, addresses: */
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
	struct ag_graph graph; /* its threads */
	struct ag_dump_layout layout;
	struct ag_dump_stacks stacks;
	struct ag_dump_heap heap;
	struct ag_self_objects own; /* the last ones are the arrays and their holder */
	struct ag_self_objects sampled;  /* the objects of `samples` */
	struct ag_klass_samples samples;
	jobject bytes, longs;       /* arrays with the pattern */
	struct ag_snapshot snapshot;
	struct ag_walk_order order;
	bool has_new; /* classes have been loaded since the list was read */
	bool over; /* the walk ends; result->why says why */
	int64_t begin_ns; /* 0: before the first callback */
	uint32_t n_calls;
	uint32_t own_thread, next_thread; /* indices in graph->threads */
	struct ag_dump_root *roots;
	uint32_t n_roots, max_roots;
	/* Of the child: */
	struct ag_dump_constant *constants; /* of the current java.lang.Class */
	struct ag_dump_current current;
	uint32_t object_class; /* number of java.lang.Object */
	uint32_t *traces; /* by thread: number of frames that are written */
};

/* In callbacks: stores a root.  Returns false if there is no room. */
bool ag_dump_root(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		  const jvmtiHeapReferenceInfo *info, uint64_t address);
/* In the child: the records before the heap dump, and the roots at its end. */
void ag_dump_write_head(struct ag_dump *d);
void ag_dump_write_roots(struct ag_dump *d);

/* In the child, for a reference from an object.  Returns what the callback does. */
jint ag_dump_edge(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		  const jvmtiHeapReferenceInfo *info, uint64_t referrer, uint64_t object);
/* In the child, after the last reference: writes the classes that HotSpot did not report. */
void ag_dump_end_classes(struct ag_dump *d);

#endif
