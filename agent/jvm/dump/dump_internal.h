/* The state of a heap dump.  Private to dump*.c. */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_INTERNAL_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_INTERNAL_H

#include "jvm/dump/dump.h"
#include "jvm/dump/dump_heap.h"
#include "jvm/dump/dump_stacks.h"
#include "jvm/graph/graph_walk.h"
#include "jvm/snapshot/confine.h"

#define AG_DUMP_CONSTANTS 65536 /* number of entries that a constant pool can have */

struct ag_dump_root {
	uint64_t address; /* of the object */
	jmethodID method; /* the method in whose stack frame the root is; NULL: in no stack frame */
	uint32_t thread;  /* index in ag_dump.graph.threads; AG_DUMP_NONE: thread not in the list */
	uint32_t depth;   /* depth of the stack frame, from 0 (innermost) */
	uint8_t tag;      /* enum ag_hprof_sub_tag */
};

/* An object to which an entry of a constant pool refers. */
struct ag_dump_constant {
	uint64_t address;
	uint32_t index; /* index of the entry */
};

/* The object whose references HotSpot is reporting. */
struct ag_dump_current {
	uint64_t address; /* 0: HotSpot has reported no reference yet */
	/* number of the object's class; if is_mirror: of the class that the object represents */
	uint32_t class;
	bool is_mirror;   /* the object is a java.lang.Class */
	uint64_t sum;     /* sum of the addresses that HotSpot reports in fields or elements */
	uint32_t n;       /* number of these addresses */
	/* if is_mirror: addresses of the class's loader, signers and protection domain; 0: null */
	uint64_t loader, signers, domain;
	uint32_t n_constants;
};

struct ag_dump {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	const struct ag_dump_opts *opts;
	struct ag_dump_result *result;
	/* If set, the objects are counted, and no dump is written. */
	struct ag_census *census;
	struct ag_tally *tallies; /* of a count, in the order of `list` */
	uint32_t n_tallies;
	uint32_t n_received; /* number of tallies that the child has sent */
	struct ag_hprof out;
	const struct ag_classes *list; /* the class list: the classes loaded before the clone */
	struct ag_graph graph; /* only its list of threads is used */
	struct ag_dump_layout layout;
	struct ag_dump_stacks stacks;
	struct ag_dump_heap heap;
	struct ag_self_objects own; /* the agent's objects; see ag_graph_make_own() */
	struct ag_self_objects sampled;  /* the objects of `samples` */
	struct ag_klass_samples samples;
	jobject bytes, longs;       /* arrays with the values 1 to AG_DUMP_PATTERN */
	struct ag_snapshot snapshot;
	struct ag_walk_order order;
	bool has_new; /* the boot loader has loaded classes since `list` was read */
	bool over; /* every callback in this process aborts the walk; see result->why */
	int64_t begin_ns; /* begin of the pause; 0: before the first callback */
	uint32_t n_calls;
	/*
	 * indices in graph.threads: own_thread: the agent's thread; next_thread: where the next
	 * search by thread_by() begins
	 */
	uint32_t own_thread, next_thread;
	struct ag_dump_root *roots;
	uint32_t n_roots, max_roots;
	/*
	 * The members below are used in the child only.  constants: if current.is_mirror, the
	 * objects in the constant pool of the class current.class
	 */
	struct ag_dump_constant *constants;
	struct ag_dump_current current;
	uint32_t object_class; /* number of the class java.lang.Object */
};

/* For callbacks: stores a root.  Returns false if there is no room. */
bool ag_dump_root(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		  const jvmtiHeapReferenceInfo *info, uint64_t address);
/* In the child: writes the HPROF records that precede the heap dump segments. */
void ag_dump_write_head(struct ag_dump *d);
/* In the child, after it has written all objects: writes the roots. */
void ag_dump_write_roots(struct ag_dump *d);

/*
 * In the child: processes a reference from the object `referrer` to the object `object`.  Returns
 * the value that the callback must return to HotSpot.
 */
jint ag_dump_edge(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		  const jvmtiHeapReferenceInfo *info, uint64_t referrer, uint64_t object);
/* In the child, after the last reference: writes the classes that are not written yet. */
void ag_dump_end_classes(struct ag_dump *d);

/* Type of the child's last frame, whose payload is ag_dump_heap.n_unknown as u32. */
#define AG_DUMP_CHILD_END UINT16_MAX

/*
 * In the JVM: receives the child's frames until the child ends.  Passes DUMP_DATA frames on to the
 * client, and stores counts in d->tallies.  Returns 0 with d->result->why set, or -1.  After -1,
 * either the channel is broken or the error is recorded.
 */
int ag_dump_relay(struct ag_dump *d);

/* A count instead of a dump (dump_count.c): */

/*
 * Type of the child's frames with counts.  Together they have u64 instances and u64 bytes of each
 * class, in the order of the class list.
 */
#define AG_DUMP_COUNTS (UINT16_MAX - 1)

/* Allocates d->tallies.  Returns 0, or -1 if there is no memory. */
int ag_dump_count_make(struct ag_dump *d);
void ag_dump_count_release(struct ag_dump *d);
/* In the child, when the classes' addresses are known: excludes the agent's own objects. */
void ag_dump_count_prepare(struct ag_dump *d);
/* In the child: sends d->tallies, unless the channel is broken. */
void ag_dump_count_send(struct ag_dump *d);
/* In the JVM: stores the counts of a frame in d->tallies. */
void ag_dump_count_take(struct ag_dump *d, const struct wire_writer *frame);

#endif
