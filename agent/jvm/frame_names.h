/*
 * Looks up the class, method, source file and line of a stack frame.  If the class was unloaded,
 * all four are unknown.  The JVMTI environment must have the capabilities can_get_line_numbers and
 * can_get_source_file_name.
 */
#ifndef JTOOL_AGENT_JVM_FRAME_NAMES_H
#define JTOOL_AGENT_JVM_FRAME_NAMES_H

#include "jvm/jvmti.h"
#include "wire/frame.h"

struct ag_frame_names {
	char *class, *method, *source; /* JVMTI memory; NULL: unknown */
	jint line;                     /* line number, or WIRE_LINE_* */
};

/*
 * Looks up the three names, but not the line: sets names->line to WIRE_LINE_NATIVE for a native
 * method, else to WIRE_LINE_UNKNOWN.  For the line, call ag_frame_line().
 */
void ag_frame_names_get(struct ag_jvm *jvm, const jvmtiFrameInfo *frame,
			struct ag_frame_names *names);
/* Returns the frame's line, from the method's current line number table; or a WIRE_LINE_* value. */
jint ag_frame_line(struct ag_jvm *jvm, const jvmtiFrameInfo *frame);
void ag_frame_names_free(struct ag_jvm *jvm, struct ag_frame_names *names);

#endif
