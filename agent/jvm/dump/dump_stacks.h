/*
 * The stacks of all threads, read a moment before a snapshot.
 *
 * A thread that runs in between has other frames in the snapshot.  HotSpot reports the method of
 * each local variable: it is given a frame only if the stack has this method at its depth.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_DUMP_STACKS_H
#define JTOOL_AGENT_JVM_DUMP_DUMP_STACKS_H

#include "jvm/dump/dump_layout.h"
#include "jvm/graph/graph.h"

struct ag_dump_method {
	uint32_t name, signature, source; /* symbols; 0: unknown */
	jclass class;                     /* a local reference; NULL: unknown */
};

struct ag_dump_frame {
	jmethodID id;
	uint32_t method; /* index in `methods` */
	jint line;       /* as in HPROF: -1 unknown, -3 native */
};

struct ag_dump_stacks {
	struct ag_dump_method *methods;
	uint32_t n_methods, cap_methods;
	struct ag_hash_map numbers; /* jmethodID → index */
	struct ag_dump_frame *frames;
	uint32_t n_frames, cap_frames;
	uint32_t *first; /* by thread: its innermost frame; the last entry is n_frames */
};

/*
 * Reads the stacks of graph->threads and writes the names of their methods.  Requires
 * can_get_line_numbers and can_get_source_file_name.  Release them in any case.
 */
int ag_dump_stacks_read(struct ag_jvm *jvm, struct ag_hprof *out, const struct ag_graph *graph,
			struct ag_dump_layout *layout, struct ag_dump_stacks *stacks);
void ag_dump_stacks_release(struct ag_jvm *jvm, struct ag_dump_stacks *stacks);

#endif
