/*
 * The heap's objects and references, told as a tape (wire/tape.h) while the JVM stands still.
 *
 * One walk of JVMTI's FollowReferences.  Nothing is tagged: that takes 70 bytes and up to a
 * microsecond an object.  Objects go by their addresses, which HotSpot's callback wrappers show
 * (see calib.h) and which are read there but never followed.  That they are shown is seen in the
 * very walk: a fresh array of fresh arrays and of itself must be met with every element in its
 * place, else the tape is void.
 */
#ifndef JTOOL_AGENT_JVM_GRAPH_H
#define JTOOL_AGENT_JVM_GRAPH_H

#include "base/chan.h"
#include "base/numbers.h"
#include "jvm/ti.h"

struct ag_graph_opts {
	uint32_t pause_ms;   /* the JVM stands still no longer */
	uint64_t tape_max;   /* bytes of tape at most */
	uint32_t texts_from; /* tell the first characters of Strings as long as this; 0: of none */
};

struct ag_graph {
	uint32_t outcome;    /* WIRE_GRAPHED_* */
	uint64_t paused_ns;  /* from the first callback on */
	uint64_t waited_ns;  /* of these, for the client */
	uint64_t own_thread; /* the agent thread's id; 0: the tape is void */
	uint32_t n_new;      /* classes that turned up in the walk: the roster's last ones */
	struct ag_graph_thread {
		jthread thread; /* a local reference */
		uint64_t id;
	} *threads; /* those that live; platform threads only */
	uint32_t n_threads;
	struct ag_numbers methods; /* jmethodID → number, from 1 on */
};

/*
 * Walk the classes of the roster and all the rest, and write TAPE frames.  New classes are added
 * to the roster; one that was unloaded meanwhile is NULL there.  Needs the capability to tag
 * objects.  -1: the error is recorded, or the channel is broken.  To be released in any case.
 */
int ag_graph_walk(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_graph_opts *opts,
		  struct ag_graph *graph);
void ag_graph_release(struct ag_jvm *jvm, struct ag_graph *graph);

#endif
