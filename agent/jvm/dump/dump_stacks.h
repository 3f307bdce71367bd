/*
 * The stacks of all threads, read a moment before a snapshot.
 *
 * If a thread runs between the reading and the clone, its stack in the snapshot differs from the
 * stack that was read.  HotSpot reports the method and the depth of each local variable in the
 * snapshot.  The dump assigns the variable to a stack frame only if the stack that was read has the
 * same method at the same depth.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_STACKS_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_STACKS_H

#include "jvm/dump/dump_layout.h"
#include "jvm/graph/graph.h"

struct ag_dump_method {
	uint32_t name, signature, source; /* numbers of HPROF symbols; 0: unknown */
	jclass class;                     /* a local reference; NULL: unknown */
};

struct ag_dump_frame {
	jmethodID id;
	uint32_t method; /* index in ag_dump_stacks.methods */
	jint line;       /* line number as in HPROF; -1: unknown; -3: a native method */
};

struct ag_dump_stacks {
	struct ag_dump_method *methods;
	uint32_t n_methods, cap_methods;
	struct ag_hash_map numbers; /* jmethodID → index in `methods` */
	struct ag_dump_frame *frames;
	uint32_t n_frames, cap_frames;
	/*
	 * one element for each thread: the index in `frames` of the thread's innermost frame; and
	 * a last element, which is n_frames
	 */
	uint32_t *first;
};

/*
 * Reads the stacks of graph->threads, and writes the names of their methods to `out`.  Requires
 * can_get_line_numbers and can_get_source_file_name.  Call ag_dump_stacks_release() even after a
 * failure.
 */
int ag_dump_stacks_read(struct ag_jvm *jvm, struct ag_hprof *out, const struct ag_graph *graph,
			struct ag_dump_layout *layout, struct ag_dump_stacks *stacks);
void ag_dump_stacks_release(struct ag_jvm *jvm, struct ag_dump_stacks *stacks);

#endif
