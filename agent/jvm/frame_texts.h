/*
 * What a frame of a stack is called: class, method, file and line.  What fails is not known, for
 * the class may be unloaded by now.  The environment has can_get_line_numbers and
 * can_get_source_file_name.
 */
#ifndef JTOOL_AGENT_JVM_FRAME_TEXTS_H
#define JTOOL_AGENT_JVM_FRAME_TEXTS_H

#include "jvm/ti.h"
#include "wire/frame.h"

struct ag_frame_texts {
	char *class, *method, *source; /* JVMTI's memory; NULL: not known */
	jint line;                     /* or WIRE_LINE_* */
};

/* The names; the line of what is native only. */
void ag_frame_names(struct ag_jvm *jvm, const jvmtiFrameInfo *frame, struct ag_frame_texts *t);
/* The line, as the method's code is numbered now. */
jint ag_frame_line(struct ag_jvm *jvm, const jvmtiFrameInfo *frame);
void ag_frame_texts_free(struct ag_jvm *jvm, struct ag_frame_texts *t);

#endif
