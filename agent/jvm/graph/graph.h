/*
 * Walks the heap, and writes its objects and references as a heap stream (wire/heap_stream.h).
 *
 * The agent makes one FollowReferences call, during which the JVM is paused.  The callback does not
 * tag every object, because a tag takes 70 bytes and up to 1 µs.  The callback identifies an object
 * by its address.  It reads the address from HotSpot's callback wrapper (heap/klass_probe.h), and
 * never dereferences the address.  To verify that the wrapper contains addresses, the agent creates
 * an Object[] for each walk, the holder, whose elements are other new arrays and the holder itself.
 * If HotSpot does not report every element of the holder at the element's index, the heap stream is
 * invalid.
 */
#ifndef JTOOL_AGENT_JVM_GRAPH_GRAPH_H
#define JTOOL_AGENT_JVM_GRAPH_GRAPH_H

#include "util/chan.h"
#include "util/hash_map.h"
#include "jvm/jvmti.h"

struct ag_graph_opts {
	uint32_t pause_ms;        /* maximum pause */
	uint64_t heap_stream_max; /* maximum bytes of the heap stream */
	uint32_t texts_from;      /* write the start of Strings of at least this length; 0: none */
	bool snapshot;            /* walk in a child process, see snapshot/snapshot.h */
	uint32_t life_ms;         /* ms after which a timer ends the child */
	uint32_t tries;           /* number of earlier tries; each try has more room for GC roots */
};

struct ag_graph {
	uint32_t outcome;    /* WIRE_GRAPHED_* */
	uint64_t paused_ns;  /* duration of the pause, from the first callback on */
	uint64_t waited_ns;  /* part of paused_ns in which the agent waited for the client */
	/* id of the agent thread; 0: not found, so the heap stream is invalid */
	uint64_t own_thread;
	uint32_t n_new;      /* number of classes that the walk added to the class index */
	struct ag_graph_thread {
		jthread thread; /* a local reference */
		uint64_t id;
	} *threads; /* live platform threads */
	uint32_t n_threads;
	struct ag_hash_map methods; /* jmethodID → number of the method; the first is 1 */
	/* Set by a walk in a child process: */
	uint32_t why;      /* WIRE_SNAPSHOT_* */
	int32_t code;      /* an errno, a signal or an exit code, as `why` says; 0: none */
	uint64_t child_ns; /* duration of the walk in the child */
};

/*
 * Walks the heap and sends the heap stream as HEAP_STREAM frames.  Appends to the class index the
 * classes that only the walk found; if a class was unloaded meanwhile, appends NULL.  Requires
 * can_tag_objects.  Returns 0, or -1.  After -1, either the channel is broken or the error is
 * recorded.  Call ag_graph_release() in any case.
 */
int ag_graph_walk(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_graph_opts *opts,
		  struct ag_graph *graph);
void ag_graph_release(struct ag_jvm *jvm, struct ag_graph *graph);

#endif
