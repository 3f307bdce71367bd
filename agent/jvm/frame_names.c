#include "jvm/frame_names.h"

#include "jvm/jni_refs.h"

/*
 * Returns the line at the code offset `at`.  Searches the complete table, because JVMTI does not
 * specify the order of its entries.
 */
static jint find_line(const jvmtiLineNumberEntry *table, jint n, jlocation at)
{
	const jvmtiLineNumberEntry *best = NULL;

	for (jint i = 0; i < n; i++) {
		if (table[i].start_location <= at &&
		    (!best || table[i].start_location > best->start_location))
			best = &table[i];
	}
	return best && best->line_number >= 0 ? best->line_number : WIRE_LINE_UNKNOWN;
}

jint ag_frame_line(struct ag_jvm *jvm, const jvmtiFrameInfo *frame)
{
	jvmtiLineNumberEntry *table = NULL;
	jint n = 0, line;

	if (frame->location < 0)
		return WIRE_LINE_NATIVE;
	if ((*jvm->ti)->GetLineNumberTable(jvm->ti, frame->method, &n, &table) !=
	    JVMTI_ERROR_NONE)
		return WIRE_LINE_UNKNOWN;
	line = find_line(table, n, frame->location);
	ag_jvmti_free(jvm, table);
	return line;
}

void ag_frame_names_get(struct ag_jvm *jvm, const jvmtiFrameInfo *frame,
			struct ag_frame_names *names)
{
	jvmtiEnv *ti = jvm->ti;
	jclass class = NULL;

	*names = (struct ag_frame_names){
		.line = frame->location < 0 ? WIRE_LINE_NATIVE : WIRE_LINE_UNKNOWN,
	};
	if ((*ti)->GetMethodName(ti, frame->method, &names->method, NULL, NULL) !=
		    JVMTI_ERROR_NONE ||
	    (*ti)->GetMethodDeclaringClass(ti, frame->method, &class) != JVMTI_ERROR_NONE) {
		names->line = WIRE_LINE_UNKNOWN;
		return;
	}
	if ((*ti)->GetClassSignature(ti, class, &names->class, NULL) != JVMTI_ERROR_NONE)
		names->class = NULL;
	if ((*ti)->GetSourceFileName(ti, class, &names->source) != JVMTI_ERROR_NONE)
		names->source = NULL;
	ag_ref_drop(jvm, class);
}

void ag_frame_names_free(struct ag_jvm *jvm, struct ag_frame_names *names)
{
	ag_jvmti_free(jvm, names->class);
	ag_jvmti_free(jvm, names->method);
	ag_jvmti_free(jvm, names->source);
	*names = (struct ag_frame_names){ .line = WIRE_LINE_UNKNOWN };
}
