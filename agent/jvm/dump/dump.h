/*
 * Writes a heap dump (HPROF) of the live objects while the application runs.
 *
 * The agent's thread reads the layout of all classes and the stacks of all threads.  HotSpot's walk
 * begins in the JVM, is cloned as for other snapshots (snapshot/snapshot.h), and reports the roots,
 * the classes and one object of each class it meets.  These prove the layouts; then the child reads
 * the objects from its copy of the heap.  Any doubt ends the child, and the JVM's own dump is left.
 *
 * The client receives HPROF, because neither side needs another format: only the child knows the
 * addresses that are HPROF's identifiers, and nothing has to be stored or translated.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_H

#include "jvm/jvmti.h"
#include "util/chan.h"

struct ag_dump_opts {
	uint32_t pause_ms; /* maximum pause */
	uint32_t life_ms;  /* of the child */
};

struct ag_dump_result {
	uint32_t why;      /* WIRE_SNAPSHOT_*; DONE: the dump is complete */
	int32_t code;      /* an errno, a signal or an exit code; 0: none */
	uint64_t paused_ns; /* from the first callback on */
	uint64_t child_ns;  /* from the clone until the last frame */
};

/*
 * Writes the dump; result->why says whether it is complete.  Requires can_tag_objects,
 * can_get_line_numbers and can_get_source_file_name.  -1: the error is recorded, or the channel is
 * broken.
 */
int ag_heap_dump(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_opts *opts,
		 struct ag_dump_result *result);

#endif
