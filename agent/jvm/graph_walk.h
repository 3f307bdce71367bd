/*
 * Private to the graph: what the callbacks of a walk work with.
 */
#ifndef JTOOL_AGENT_JVM_GRAPH_WALK_H
#define JTOOL_AGENT_JVM_GRAPH_WALK_H

#include "jvm/calib.h"
#include "jvm/classes.h"
#include "jvm/graph.h"
#include "jvm/own.h"
#include "jvm/vthreads.h"
#include "wire/tape.h"

#define AG_GRAPH_ARRAYS 32   /* of our own, to see addresses by */
#define AG_GRAPH_NEW 4096    /* classes that may turn up without being in the roster */
#define AG_GRAPH_METHODS 4096 /* further ones go without a number */

/* A class's note: where its objects hold what they refer to, and how strongly. */
#define AG_NO_REFERENT UINT32_MAX /* no class has so many fields */
#define AG_REFERENT(index, strength) ((uint32_t)(index) << 2 | (strength))

/* What the fields of java.lang.Class hold, class by class of the roster. */
#define AG_MIRROR_FIELDS 24 /* JDK 8 to 27 have up to 17 */
struct ag_mirrors {
	struct ag_held {
		jobject object; /* a local reference */
		uint32_t index; /* of the field */
		bool is_ours;   /* else it is an earlier one's */
	} *list;
	uint32_t n, cap;
	uint32_t *first; /* of each class, and the end */
};

struct ag_graph_walk {
	/* of every callback */
	uint8_t *at, *full; /* the tape goes here; beyond, there must be room again first */
	struct tape_place place;
	uint32_t note;      /* of the class of the object that is told of */
	bool in_holder;     /* that is the array of our arrays */
	bool over;          /* nothing more is told: outcome says why */
	struct ag_numbers classes; /* address of a class → its number */

	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct wire_writer *piece; /* the TAPE frame that is being written */
	const struct ag_graph_opts *opts;
	struct ag_graph *graph;
	const struct ag_classes *roster;
	const uint32_t *notes;    /* of the roster's classes */
	const struct ag_mirrors *mirrors;
	struct ag_vthreads vthreads;
	const struct ag_own *own; /* the arrays and what holds them are the last ones */
	struct ag_patience patience;
	uint64_t told;         /* bytes of tape in earlier pieces */
	int64_t begin_ns;      /* 0: it has not begun yet */
	uint64_t holder;       /* address */
	uint64_t in_place;     /* a bit for each of its elements that was met in its place */
	uint32_t n_mirrors;    /* classes of the roster that were told of as MIRRORs */
	uint32_t next_thread;  /* of the list: the JVM has the same order */
	bool crowded;          /* more classes turned up than there is room for */
};

static inline void ag_graph_tell(struct ag_graph_walk *w, const struct tape_record *record)
{
	w->at = tape_write(&w->place, w->at, record);
}

static inline uint64_t ag_graph_address(jobject ref)
{
	return (uint64_t)(uintptr_t)ag_object_of(ref);
}

/* Tell a root, of which the object and its size are filled in. */
void ag_graph_on_root(struct ag_graph_walk *walk, jvmtiHeapReferenceKind kind,
		      const jvmtiHeapReferenceInfo *info, struct tape_record root);

/* Which classes, of those in the list from `from` on, are references, and by which field. */
int ag_graph_notes(struct ag_jvm *jvm, const struct ag_classes *classes, uint32_t from,
		   uint32_t *notes);

/* The fields of all interfaces that a class has, which come before its own; added to *count. */
int ag_graph_interface_fields(struct ag_jvm *jvm, jclass class, uint32_t *count);

/* To be released in any case. */
int ag_mirrors_read(struct ag_jvm *jvm, const struct ag_classes *classes, struct ag_mirrors *m);
void ag_mirrors_release(struct ag_jvm *jvm, struct ag_mirrors *m);

/* The walk itself: 0, or -1 with the error recorded.  graph->outcome says how it ended. */
int ag_graph_follow(struct ag_graph_walk *walk);

#endif
