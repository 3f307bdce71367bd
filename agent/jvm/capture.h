/*
 * Reading a class file out of the JVM without doing anything to the class.
 *
 * A retransformation, or a redefinition, is begun for one class, the ClassFileLoadHook copies
 * what it is handed, and throws an exception that was made before: HotSpot abandons the whole
 * operation before it parses anything (jvmtiRedefineClasses.cpp, load_new_class_versions), with
 * JVMTI_ERROR_UNSUPPORTED_VERSION.  Nothing is built, deoptimised or leaked.  A retransformation
 * that really takes place is no way of reading: see the man page on what it costs.
 *
 * The hook is a fresh environment's, which is behind all others of its time, so that it sees
 * what the others made of the class.  It is called on every thread for every class that is
 * loaded meanwhile: it acts only on our own thread, on the very class that is asked for (JDK 9+
 * may load another class of its own in between, JDK-internal, which must not be hurt).
 */
#ifndef JTOOL_AGENT_JVM_CAPTURE_H
#define JTOOL_AGENT_JVM_CAPTURE_H

#include "jvm/ti.h"

struct ag_capture {
	jvmtiEnv *ti;       /* the environment with the hook */
	struct ag_mem *mem; /* of the thread that captures */
	jthrowable thrown;  /* a local reference */
	/* of the capture that goes on */
	jclass class;       /* NULL: none */
	jobject loader;
	const char *signature;
	/* and what came of it */
	uint8_t *bytes;     /* ag_alloc's; grows and is used again */
	size_t len, cap;
	unsigned hits;
	bool no_memory;
};

/*
 * Make the environment and the exception.  To be used and closed on the thread that opened it.
 * Nothing is to be closed when that fails.
 */
int ag_capture_open(struct ag_jvm *jvm, struct ag_capture *capture);
void ag_capture_close(struct ag_jvm *jvm, struct ag_capture *capture);

/* What makes the JVM abandon a retransformation when it is thrown in a hook; NULL: recorded. */
jthrowable ag_capture_exception(struct ag_jvm *jvm);

/* What became of it, and the JVMTI error that decided. */
struct ag_captured {
	uint32_t outcome; /* WIRE_CAPTURED_* */
	jvmtiError code;
};

/*
 * Is it worth trying?  1: yes; 0: no, and the outcome says why not; -1: as below.  The signature
 * is the class's.
 */
int ag_capture_can(struct ag_jvm *jvm, jclass class, const char *signature,
		   struct ag_captured *captured);

/*
 * The class file that stands for what the JVM runs: in capture->bytes until the next capture.
 * Classes that cannot be captured are not tried: which is told by the outcome.  -1 only when the
 * JVM is leaving or memory is out.
 */
int ag_capture_class(struct ag_jvm *jvm, struct ag_capture *capture, jclass class,
		     struct ag_captured *captured);

/*
 * What the class would be redefined to with this class file: the same bytes, unless the
 * transformers of other agents change them.
 */
int ag_capture_redefinition(struct ag_jvm *jvm, struct ag_capture *capture, jclass class,
			    const uint8_t *file, size_t len, struct ag_captured *captured);

#endif
