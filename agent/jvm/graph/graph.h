/*
 * Writes the heap's objects and references as a heap stream (wire/heap_stream.h).
 *
 * This takes one FollowReferences call, during which the JVM is paused.  No object is tagged, which
 * would take 70 bytes and up to 1 µs for each.  Objects are identified by their addresses, which
 * are read from HotSpot's callback wrappers (heap/klass_probe.h) and never dereferenced.  Each walk
 * checks itself: HotSpot must report a new array with every element (new arrays, and itself) at its
 * index.  Otherwise the heap stream is invalid.
 */
#ifndef JTOOL_AGENT_JVM_GRAPH_GRAPH_H
#define JTOOL_AGENT_JVM_GRAPH_GRAPH_H

#include "util/chan.h"
#include "util/hash_map.h"
#include "jvm/jvmti.h"

struct ag_graph_opts {
	uint32_t pause_ms;        /* maximum pause */
	uint64_t heap_stream_max; /* bytes */
	uint32_t texts_from;      /* write the start of Strings of at least this length; 0: none */
	bool snapshot;            /* walk in a child process, see snapshot/snapshot.h */
	uint32_t life_ms;         /* of that process */
	uint32_t tries;           /* of snapshots so far; each one has more room */
};

struct ag_graph {
	uint32_t outcome;    /* WIRE_GRAPHED_* */
	uint64_t paused_ns;  /* from the first callback on */
	uint64_t waited_ns;  /* part of paused_ns: waiting for the client */
	uint64_t own_thread; /* id of the agent thread; 0: the heap stream is invalid */
	uint32_t n_new;      /* classes found by the walk, at the end of the class index */
	struct ag_graph_thread {
		jthread thread; /* a local reference */
		uint64_t id;
	} *threads; /* live platform threads */
	uint32_t n_threads;
	struct ag_hash_map methods; /* jmethodID → number, from 1 on */
	/* Of a snapshot: */
	uint32_t why;      /* WIRE_SNAPSHOT_* */
	int32_t code;
	uint64_t child_ns; /* duration of the walk in the child */
};

/*
 * Walks the heap and writes the heap stream as HEAP_STREAM frames.  Adds new classes to the index,
 * as NULL if they were unloaded meanwhile.  Requires can_tag_objects.  -1: the error is recorded,
 * or the channel is broken.  Release the graph in any case.
 */
int ag_graph_walk(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_graph_opts *opts,
		  struct ag_graph *graph);
void ag_graph_release(struct ag_jvm *jvm, struct ag_graph *graph);

#endif
