/* Private to the graph: the state of a walk. */
#ifndef JTOOL_AGENT_JVM_GRAPH_GRAPH_WALK_H
#define JTOOL_AGENT_JVM_GRAPH_GRAPH_WALK_H

#include "jvm/heap/klass_probe.h"
#include "jvm/classes.h"
#include "jvm/graph/graph.h"
#include "jvm/heap/self_objects.h"
#include "jvm/graph/vthreads.h"
#include "jvm/snapshot/snapshot.h"
#include "jvm/snapshot/walk_order.h"
#include "wire/heap_stream.h"

#define AG_GRAPH_ARRAYS 32    /* arrays of the agent that check the addresses */
#define AG_GRAPH_NEW 4096     /* maximum of classes that are not in the class index yet */
#define AG_GRAPH_METHODS 4096 /* further methods get no number */

/* For a subclass of Reference: the field index of the referent, and the strength. */
#define AG_NO_REFERENT UINT32_MAX /* not a Reference; no class has so many fields */
#define AG_REFERENT(index, strength) ((uint32_t)(index) << 2 | (strength))

/* The values of java.lang.Class's fields, in the order of the class index. */
#define AG_MIRROR_FIELDS 24 /* JDK 8 to 27 have up to 17 */
struct ag_mirrors {
	struct ag_mirror_field {
		jobject object; /* a local reference */
		uint32_t index; /* of the field */
		bool owns_ref;  /* else an earlier entry has the same reference */
	} *list;
	uint32_t n, cap;
	uint32_t *first; /* by class: index of its first value; the last entry is n */
};

struct ag_graph_walk {
	/* The members that every callback uses. */
	uint8_t *at, *full; /* output position; a new piece begins once it is beyond `full` */
	struct heap_stream_state state;
	uint32_t referent;  /* AG_REFERENT() of the current object's class */
	bool in_holder;     /* the current object is the holder of the agent's arrays */
	bool over;          /* the walk ends; graph->outcome says why */
	struct ag_hash_map classes; /* address of a java.lang.Class → number of the class */

	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct wire_writer *piece; /* the current HEAP_STREAM frame */
	const struct ag_graph_opts *opts;
	struct ag_graph *graph;
	const struct ag_classes *loaded; /* of the class index */
	const uint32_t *referents;       /* AG_REFERENT() of each of these classes */
	const struct ag_mirrors *mirrors;
	struct ag_vthreads vthreads;
	const struct ag_self_objects *own; /* the last ones are the arrays and their holder */
	struct ag_wait_limit patience; /* limits the pause; counts waits for the client */
	uint64_t written;      /* bytes of the heap stream in earlier pieces */
	int64_t begin_ns;      /* 0: before the first callback */
	uint64_t holder;       /* address */
	uint64_t seen_elements; /* a bit for each element that was reported at its index */
	uint32_t n_mirrors;    /* classes of the class index that were written as MIRROR */
	uint32_t next_thread;  /* index in graph->threads: the JVM uses the same order */
	bool too_many_classes; /* there are more than AG_GRAPH_NEW new classes */
	/* For a walk in a child process: */
	struct ag_snapshot *snapshot; /* NULL: the walk is in this process */
	struct ag_walk_order order;
	uint32_t nameless; /* roots whose method has no id in the JVM */
};

static inline void ag_graph_write(struct ag_graph_walk *w, const struct heap_stream_record *record)
{
	w->at = heap_stream_write(&w->state, w->at, record);
}

static inline uint64_t ag_graph_address(jobject ref)
{
	return (uint64_t)(uintptr_t)ag_object_of(ref);
}

/* Completes and writes a root, whose object and size are set. */
void ag_graph_on_root(struct ag_graph_walk *walk, jvmtiHeapReferenceKind kind,
		      const jvmtiHeapReferenceInfo *info, struct heap_stream_record root);

/* Stores AG_REFERENT() or AG_NO_REFERENT for each class of the list from `from` on. */
int ag_graph_referents(struct ag_jvm *jvm, const struct ag_classes *classes, uint32_t from,
		       uint32_t *referents);

/* Adds to *count the fields of a class's interfaces: JVMTI numbers them before those of classes. */
int ag_graph_interface_fields(struct ag_jvm *jvm, jclass class, uint32_t *count);

/* Reads the fields of all classes' mirrors.  Release them in any case. */
int ag_mirrors_read(struct ag_jvm *jvm, const struct ag_classes *classes, struct ag_mirrors *m);
void ag_mirrors_release(struct ag_jvm *jvm, struct ag_mirrors *m);

/* Lists the live platform threads in graph->threads, with their ids. */
int ag_graph_list_threads(struct ag_jvm *jvm, struct ag_graph *graph);
/* Adds the agent's thread, AG_GRAPH_ARRAYS arrays, and an Object[] that has these and itself. */
int ag_graph_make_own(struct ag_jvm *jvm, struct ag_self_objects *own);

/* Runs the walk.  Returns 0, or -1 with the error recorded.  graph->outcome says how it ended. */
int ag_graph_follow(struct ag_graph_walk *walk);
/* The same in a child process; opts->snapshot is set. */
int ag_graph_follow_snapshot(struct ag_graph_walk *walk);

/* Functions of graph_walk.c that the callbacks of both kinds of walks use. */
void ag_graph_begin_piece(struct ag_graph_walk *walk);
void ag_graph_begin(struct ag_graph_walk *walk); /* in the first callback */
void ag_graph_end_piece(struct ag_graph_walk *walk); /* unless it is empty */
/* Sends the current piece and begins the next one.  Returns false if the walk has to end. */
bool ag_graph_flush(struct ag_graph_walk *walk);
/* Returns whether the addresses are verified. */
bool ag_graph_is_certain(const struct ag_graph_walk *walk);
jint JNICALL ag_graph_on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
				   jlong class_tag, jlong referrer_class_tag, jlong size,
				   jlong *tag, jlong *referrer_tag, jint length, void *user);
jint JNICALL ag_graph_on_string(jlong class_tag, jlong size, jlong *tag, const jchar *value,
				jint length, void *user);
/* In the child: reports how the walk has ended, and ends the process. */
void ag_graph_leave(struct ag_graph_walk *walk) __attribute__((noreturn));

#endif
