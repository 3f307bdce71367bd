/*
 * Looks up the class, method, source file and line of a stack frame.  All are unknown if the class
 * was unloaded.  Requires can_get_line_numbers and can_get_source_file_name.
 */
#ifndef JTOOL_AGENT_JVM_FRAME_NAMES_H
#define JTOOL_AGENT_JVM_FRAME_NAMES_H

#include "jvm/jvmti.h"
#include "wire/frame.h"

struct ag_frame_names_get {
	char *class, *method, *source; /* JVMTI memory; NULL: unknown */
	jint line;                     /* line number, or WIRE_LINE_* */
};

/*
 * Looks up the names.  Does not look up the line: it becomes WIRE_LINE_NATIVE or WIRE_LINE_UNKNOWN.
 */
void ag_frame_names_get(struct ag_jvm *jvm, const jvmtiFrameInfo *frame,
			struct ag_frame_names_get *t);
/* Returns the line according to the method's current line number table, or WIRE_LINE_*. */
jint ag_frame_line(struct ag_jvm *jvm, const jvmtiFrameInfo *frame);
void ag_frame_names_free(struct ag_jvm *jvm, struct ag_frame_names_get *t);

#endif
