/*
 * Writes a heap dump (HPROF) of the live objects while the application runs.
 *
 * 1. The agent's thread reads the field layout of all classes and the stacks of all threads.
 * 2. HotSpot's walk of the heap begins in the JVM and continues in a cloned child
 *    (snapshot/snapshot.h).  HotSpot reports the roots, the classes, and the references of one
 *    object of each class that it meets.  The child reads the references of this object as well; if
 *    they are equal, the child has the right layout of the class.
 * 3. The child itself reads all objects from its copy of the heap.
 * If anything is inconsistent, the child ends, and the client makes the JVM write its own dump.
 *
 * Instead of writing the objects, the child can count them.
 *
 * The agent sends the dump as an HPROF file, not in a format of its own, because identifiers in
 * HPROF can be the addresses of objects: neither the agent nor the client has to store or translate
 * identifiers.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_H

#include "jvm/heap/histo.h"
#include "jvm/jvmti.h"
#include "util/chan.h"

struct ag_dump_opts {
	uint32_t pause_ms; /* maximum pause of the JVM */
	uint32_t life_ms;  /* ms after the clone at which SIGALRM ends the child */
};

struct ag_dump_result {
	uint32_t why;      /* WIRE_SNAPSHOT_*; WIRE_SNAPSHOT_DONE: the dump is complete */
	int32_t code;      /* an errno, a signal or an exit code; 0: none */
	uint64_t paused_ns; /* duration of the JVM's pause, measured from the first callback on */
	uint64_t child_ns;  /* time from the end of the pause to the arrival of the last frame */
};

/*
 * Writes the dump; result->why says whether the dump is complete.  Requires can_tag_objects,
 * can_get_line_numbers and can_get_source_file_name.  Returns 0, or -1.  After -1, either the
 * channel is broken or the error is recorded.
 */
int ag_heap_dump(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_opts *opts,
		 struct ag_dump_result *result);

/*
 * Counts by class the objects that ag_heap_dump() would write, and sends nothing.  If result->why
 * is WIRE_SNAPSHOT_DONE, the census has the classes that have instances.  Call ag_census_release()
 * in any case.  Requires can_tag_objects.  Returns the same as ag_heap_dump().
 */
int ag_heap_count(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_opts *opts,
		  struct ag_dump_result *result, struct ag_census *census);

#endif
