/*
 * A JVM for exact profiles to be tested in: classes, objects and stacks that the test makes up.
 * Calls may come from all threads at once.  Every call that can fail is counted, and the one whose
 * number is fail_at fails.
 */
#ifndef JTOOL_TESTS_FAKE_EXACT_H
#define JTOOL_TESTS_FAKE_EXACT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#define FAKE_THREADS 32
#define FAKE_FRAMES 8

/* A class's method; a jmethodID is its address. */
struct fake_method {
	struct fake_thing *class;
	const char *name, *descriptor;
	const unsigned char *code;
	jint len;
};

/* An object, or a class; a reference is its address. */
struct fake_thing {
	struct fake_thing *class;
	jlong size;
	jint len; /* of an array */
	struct fake_thing *elements[4];
	/* a class */
	const char *signature;
	struct fake_thing *super;
	jint hash;
	struct fake_method *clone; /* its own */
};

struct fake_exact {
	jlong align, header, reference; /* bytes: how arrays are laid out */
	struct fake_thing **loaded;
	jint n_loaded;
	struct fake_thing *carrier; /* what the virtual thread's field has */
	unsigned fail_at;
	/* while a stack is walked */
	void (*meanwhile)(void);

	unsigned calls, walks;
	long blocks, references, globals, weak, frames;
	bool exception;
};
extern struct fake_exact fake;

extern struct fake_thing fake_class, fake_object, fake_thread, fake_virtual;

JNIEnv *fake_jni(unsigned thread);
jvmtiEnv *fake_ti(void);

/* The stack of the thread that calls, the innermost first. */
extern __thread jvmtiFrameInfo fake_stack[FAKE_FRAMES];
extern __thread jint fake_depth;
extern __thread struct fake_thing *fake_current; /* thread */

#endif
