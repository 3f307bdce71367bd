/*
 * Writes a heap dump (HPROF) of the live objects while the application runs.
 *
 * The agent's thread reads the layout of all classes and the stacks of all threads.  HotSpot's walk
 * begins in the JVM and continues in a cloned child (snapshot/snapshot.h).  The walk reports the
 * roots, the classes, and one object of each class that it meets; the references of these objects
 * prove that the child has the right layouts.  Then the child itself reads all objects from its
 * copy of the heap.  If anything is inconsistent, the child ends, and the client lets the JVM write
 * its own dump.
 *
 * The agent sends the dump as an HPROF file, not in a format of its own: identifiers in HPROF can
 * be the addresses of objects, so neither the agent nor the client has to store or translate
 * identifiers.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_H

#include "jvm/jvmti.h"
#include "util/chan.h"

struct ag_dump_opts {
	uint32_t pause_ms; /* maximum pause */
	uint32_t life_ms;  /* ms after which the child is ended */
};

struct ag_dump_result {
	uint32_t why;      /* WIRE_SNAPSHOT_*; WIRE_SNAPSHOT_DONE: the dump is complete */
	int32_t code;      /* an errno, a signal or an exit code; 0: none */
	uint64_t paused_ns; /* duration of the pause, from the first callback on */
	uint64_t child_ns;  /* time from the clone until the child's last frame */
};

/*
 * Writes the dump; result->why says whether the dump is complete.  Requires can_tag_objects,
 * can_get_line_numbers and can_get_source_file_name.  Returns 0, or -1 if the error is recorded or
 * the channel is broken.
 */
int ag_heap_dump(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_opts *opts,
		 struct ag_dump_result *result);

#endif
