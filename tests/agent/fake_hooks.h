/*
 * A JVM for hooks to be tested in: objects of a handful of classes, and threads, each with a
 * JNIEnv of its own.  Calls may come from all threads at once.  Every call that can fail is
 * counted, and the one whose number is fail_at fails.
 */
#ifndef JTOOL_TESTS_FAKE_HOOKS_H
#define JTOOL_TESTS_FAKE_HOOKS_H

#include <jvmti.h>
#include <stdbool.h>

#define FAKE_THREADS 32

/* An object, or a class; a reference is its address. */
struct fake_thing {
	struct fake_thing *class;
	/* a class */
	const char *signature;
	struct fake_thing *super;
	/* an object: a String's text, the field that is read of it, or an array's elements */
	const char *text;
	jvalue field;
	jint len;
	const jvalue *elements;
};

struct fake_hooks {
	unsigned taken;      /* so many classes with hooks are there already */
	unsigned release;    /* of the JDK */
	bool early_names;    /* a Thread's name is a char[] */
	bool is_virtual; /* the current thread */
	unsigned fail_at;    /* 0: nothing fails */
	/* what another thread does while the JVM is asked for a class's signature */
	void (*meanwhile)(void);

	unsigned calls, defined;
	char hooks[64];      /* the class that was defined last */
	long blocks, references, globals, frames;
	char *last_signature; /* that was handed out */
	bool exception;
};
extern struct fake_hooks fake;

extern struct fake_thing fake_object, fake_string, fake_long_string, fake_integer, fake_color,
	fake_special_color, fake_ints, fake_objects, fake_thrown;

JNIEnv *fake_jni(unsigned thread);
jvmtiEnv *fake_ti(void);
/* What RegisterNatives was given. */
void *fake_native(const char *name);

#endif
