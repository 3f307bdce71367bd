/*
 * Reads the class file that the JVM currently runs, without changing the class.
 *
 * The agent requests a retransformation or redefinition of one class.  The capture's
 * ClassFileLoadHook copies the incoming bytes and throws an exception.  HotSpot then abandons the
 * request with JVMTI_ERROR_UNSUPPORTED_VERSION, before it parses the bytes
 * (jvmtiRedefineClasses.cpp, load_new_class_versions).  No class version is built, and no code is
 * deoptimised.  The man page describes what a completed retransformation costs.
 *
 * HotSpot calls ClassFileLoadHooks in the order in which their environments were created, so the
 * capture, which has the newest environment, receives the output of all earlier transformers.
 * HotSpot calls the capture's hook for every class that any thread loads or redefines.  The hook
 * acts only on the capturing thread, and there only for the requested class, because JDK 9 and
 * later may load an internal class on this thread during the capture.
 */
#ifndef JTOOL_AGENT_JVM_CAPTURE_CAPTURE_H
#define JTOOL_AGENT_JVM_CAPTURE_CAPTURE_H

#include "jvm/jvmti.h"

struct ag_capture {
	jvmtiEnv *ti;       /* the environment with the hook */
	struct ag_mem *mem; /* of the capturing thread's session */
	jthrowable thrown;  /* the exception that the hook throws; a local reference */
	/* The current capture: */
	jclass class;       /* the class to be captured; NULL: no capture is running */
	jobject loader;
	const char *signature;
	/* The result of the current capture: */
	uint8_t *bytes;     /* ag_alloc() memory; reused by the next capture */
	size_t len, cap;
	unsigned hits;      /* calls of the hook for `class` */
	bool no_memory;     /* the bytes could not be copied */
};

/*
 * Creates the environment and the exception in *capture.  Only the current thread may use and close
 * the capture.  Returns 0, or -1 with the error recorded.
 */
int ag_capture_open(struct ag_jvm *jvm, struct ag_capture *capture);
void ag_capture_close(struct ag_jvm *jvm, struct ag_capture *capture);

/* Returns the exception to throw in a hook (a local reference), or NULL with the error recorded. */
jthrowable ag_capture_exception(struct ag_jvm *jvm);

struct ag_captured {
	uint32_t outcome; /* WIRE_CAPTURED_* */
	jvmtiError code;  /* the JVM's error if the outcome is WIRE_CAPTURED_ERROR */
};

/*
 * Checks whether a class can be captured.  Returns 1 if it can; 0 if not, with the reason in
 * captured->outcome; -1 if the JVM is shutting down.
 */
int ag_capture_can(struct ag_jvm *jvm, jclass class, const char *signature,
		   struct ag_captured *captured);

/*
 * Captures a class.  If captured->outcome is then WIRE_CAPTURED_FILE, capture->bytes contains the
 * class file until the next capture.  Returns 0, or -1 if the JVM is shutting down or memory is
 * exhausted.
 */
int ag_capture_class(struct ag_jvm *jvm, struct ag_capture *capture, jclass class,
		     struct ag_captured *captured);

/*
 * Captures the bytes that would be installed if `class` were redefined with the class file `file`.
 * These bytes equal `file` unless transformers of other agents change them.  Stores and returns the
 * same as ag_capture_class().
 */
int ag_capture_redefinition(struct ag_jvm *jvm, struct ag_capture *capture, jclass class,
			    const uint8_t *file, size_t len, struct ag_captured *captured);

#endif
