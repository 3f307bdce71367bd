/*
 * The parts of the fake JVM.  Each adds its functions to the tables of jvm_core.h; a test may then
 * replace some of them.
 */
#ifndef JTOOL_TESTS_JVM_PARTS_H
#define JTOOL_TESTS_JVM_PARTS_H

#include "agent/fake/jvm_core.h"

/* JNI: reading objects, strings and arrays, looking up fields and methods, new objects. */
void fake_add_objects(void);
/* JVMTI: the loaded classes, their fields and methods. */
void fake_add_classes(void);
/* JVMTI: threads and their stacks. */
void fake_add_threads(void);
/* JVMTI: environments with their capabilities, events and storage; raw monitors. */
void fake_add_environments(void);

/*
 * jvm_threads.c: the stack of the calling thread, innermost frame first (depth 0: fake.stack), and
 * its object (NULL: fake.current_thread).
 */
#define FAKE_FRAMES 8
extern __thread jvmtiFrameInfo fake_stack[FAKE_FRAMES];
extern __thread jint fake_depth;
extern __thread struct fake_object *fake_current;

/* Runs the thread that the agent has started, if any, on the calling thread. */
void fake_run_thread(void);

/* jvm_environments.c: JVMTI environments.  The first is the session's. */
#define FAKE_ENVIRONMENTS 16

struct fake_environment {
	const jvmtiInterface_1 *functions;
	bool valid;
	jvmtiCapabilities capabilities;
	jvmtiEventCallbacks callbacks;
	uint64_t events; /* enabled events: bit 0 is JVMTI_MIN_EVENT_TYPE_VAL */
	const void *storage;
	const void *thread_storage[2]; /* index: fake.other_thread > 0 */
	jlong tags[16]; /* by the object's number in jvm_transform.c; 0: no tag */
};

/* Returns the first environment, which it creates if necessary. */
jvmtiEnv *fake_ti(void);
jvmtiEnv *fake_new_ti(void);
/* Fails the test for an environment that was disposed of. */
struct fake_environment *fake_environment(jvmtiEnv *ti);
/* Returns environment i, which may be disposed of; NULL after the last. */
struct fake_environment *fake_environment_at(size_t i);
bool fake_enabled(const struct fake_environment *e, jvmtiEvent event);
bool fake_has_capabilities(const struct fake_environment *e);

#endif
