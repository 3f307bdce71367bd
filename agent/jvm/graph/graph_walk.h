/* The state of a walk.  Private to graph*.c. */
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

#define AG_GRAPH_ARRAYS 32    /* number of test arrays: the walk must find them where they are */
#define AG_GRAPH_NEW 4096     /* maximum number of classes that a walk may add to the class index */
#define AG_GRAPH_METHODS 4096 /* maximum number of numbered methods; all others have number 0 */

/*
 * AG_REFERENT() packs two facts about a subclass of java.lang.ref.Reference: the index of its field
 * `referent`, and its strength (enum heap_stream_strength).
 */
#define AG_NO_REFERENT UINT32_MAX /* for every other class; no field has so large an index */
#define AG_REFERENT(index, strength) ((uint32_t)(index) << 2 | (strength))

/*
 * The mirror of a class is its java.lang.Class.  struct ag_mirrors has the values of the reference
 * fields of the mirrors of all classes in the class index.  graph_mirrors.c says why the walk needs
 * them.
 */
#define AG_MIRROR_FIELDS 24 /* maximum of these fields in a mirror; JDK 8 to 27 have up to 17 */
struct ag_mirrors {
	struct ag_mirror_field {
		jobject object; /* a local reference */
		uint32_t index; /* index of the field, as JVMTI numbers fields */
		bool owns_ref;  /* false: an earlier element of `list` has and owns the reference */
	} *list;
	uint32_t n, cap;
	/* first[i]: index in `list` of the first value of class i; the last element is n */
	uint32_t *first;
};

struct ag_graph_walk {
	/* Every callback uses the members up to `classes`, so they are adjacent, for speed. */
	uint8_t *at, *full; /* at: output position; a new piece begins when at > full */
	struct heap_stream_state state;
	uint32_t referent;  /* AG_REFERENT() of the current object's class, or AG_NO_REFERENT */
	bool in_holder;     /* the current object is the holder (graph.h); verify its elements */
	bool over;          /* every callback aborts the walk; graph->outcome says why */
	struct ag_hash_map classes; /* address of a java.lang.Class → number of the class */

	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct wire_writer *piece; /* the current HEAP_STREAM frame */
	const struct ag_graph_opts *opts;
	struct ag_graph *graph;
	const struct ag_classes *loaded; /* classes of the class index */
	const uint32_t *referents;       /* AG_REFERENT() of each class in `loaded` */
	const struct ag_mirrors *mirrors;
	struct ag_vthreads vthreads;
	const struct ag_self_objects *own; /* the agent's objects; see ag_graph_make_own() */
	struct ag_wait_limit patience; /* limits the pause, and adds up the waits for the client */
	uint64_t written;      /* bytes of the heap stream in the frames before `piece` */
	int64_t begin_ns;      /* begin of the pause; 0: before the first callback */
	uint64_t holder;       /* address of the holder, see graph.h */
	uint64_t seen_elements; /* bit i: HotSpot has reported the holder's element i correctly */
	uint32_t n_mirrors;    /* number of MIRROR records so far whose class is in `classes` */
	uint32_t next_thread;  /* index at which the next search in graph->threads begins */
	bool too_many_classes; /* there are more than AG_GRAPH_NEW new classes */
	/* Of a walk in a child process: */
	struct ag_snapshot *snapshot; /* NULL: the walk runs in the JVM */
	struct ag_walk_order order;
	/* number of roots whose method is omitted: its jmethodID is valid in the child only */
	uint32_t nameless;
};

static inline void ag_graph_write(struct ag_graph_walk *w, const struct heap_stream_record *record)
{
	w->at = heap_stream_write(&w->state, w->at, record);
}

static inline uint64_t ag_graph_address(jobject ref)
{
	return (uint64_t)(uintptr_t)ag_object_of(ref);
}

/*
 * Sets the kind, thread and method in the record `root`, in which the caller has set the address
 * and size.  Then writes the record.
 */
void ag_graph_on_root(struct ag_graph_walk *walk, jvmtiHeapReferenceKind kind,
		      const jvmtiHeapReferenceInfo *info, struct heap_stream_record root);

/* Stores AG_REFERENT() or AG_NO_REFERENT of class i in referents[i - from], for each i >= from. */
int ag_graph_referents(struct ag_jvm *jvm, const struct ag_classes *classes, uint32_t from,
		       uint32_t *referents);

/*
 * Adds to *count the number of fields in all interfaces of a class.  JVMTI gives these fields lower
 * indexes than the fields of the class and its superclasses.
 */
int ag_graph_interface_fields(struct ag_jvm *jvm, jclass class, uint32_t *count);

/*
 * Reads the reference fields of the java.lang.Class of each class in `classes`.  Returns 0, or -1
 * with the error recorded.  Call ag_mirrors_release() in either case.
 */
int ag_mirrors_read(struct ag_jvm *jvm, const struct ag_classes *classes, struct ag_mirrors *m);
void ag_mirrors_release(struct ag_jvm *jvm, struct ag_mirrors *m);

/* Lists the live platform threads in graph->threads, with their ids. */
int ag_graph_list_threads(struct ag_jvm *jvm, struct ag_graph *graph);
/*
 * Adds to `own` the agent's thread, AG_GRAPH_ARRAYS new int arrays, and the holder: an Object[]
 * whose elements are these arrays and the holder itself.  Returns 0, or -1 with the error recorded.
 */
int ag_graph_make_own(struct ag_jvm *jvm, struct ag_self_objects *own);

/*
 * Run the walk: ag_graph_follow() in the JVM, ag_graph_follow_snapshot() in a child process (if
 * opts->snapshot is set).  Return 0 with graph->outcome set; or -1 with the error recorded.
 */
int ag_graph_follow(struct ag_graph_walk *walk);
int ag_graph_follow_snapshot(struct ag_graph_walk *walk);

/* Functions of graph_walk.c for both kinds of walks: those in the JVM and those in a child. */
void ag_graph_begin_piece(struct ag_graph_walk *walk);
void ag_graph_begin(struct ag_graph_walk *walk); /* call it in the first callback */
void ag_graph_end_piece(struct ag_graph_walk *walk); /* does nothing if the piece is empty */
/* Sends the current piece and begins the next one.  Returns false if the walk has to end. */
bool ag_graph_flush(struct ag_graph_walk *walk);
/* Returns true if the walk has verified the object addresses, see graph.h. */
bool ag_graph_is_certain(const struct ag_graph_walk *walk);
jint JNICALL ag_graph_on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
				   jlong class_tag, jlong referrer_class_tag, jlong size,
				   jlong *tag, jlong *referrer_tag, jint length, void *user);
jint JNICALL ag_graph_on_string(jlong class_tag, jlong size, jlong *tag, const jchar *value,
				jint length, void *user);
/* Call it in the child: sends the outcome of the walk, and ends the child. */
void ag_graph_leave(struct ag_graph_walk *walk) __attribute__((noreturn));

#endif
