/*
 * What the fakes of a JVM have in common whose calls come from all threads at once: calls are
 * counted, of which one fails, and what is handed out is counted until it is given back.
 *
 * To be included by one source of a test, behind `fake`: a struct with calls, fail_at, blocks,
 * references, globals, frames and exception.  A reference to an object, or to a class, is the
 * address of a struct fake_thing, which has a class, a super and a signature.
 */
#ifndef JTOOL_TESTS_FAKE_COUNTS_H
#define JTOOL_TESTS_FAKE_COUNTS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct fake_thing *thing(const void *ref)
{
	return (struct fake_thing *)(uintptr_t)ref;
}

static void add(long *counter, long n)
{
	(void)__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* This call is the one that fails. */
static bool fails(void)
{
	return __atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED) == fake.fail_at;
}

#define TI_FAULT()                                        \
	do {                                              \
		(void)ti;                                 \
		if (fails())                              \
			return JVMTI_ERROR_OUT_OF_MEMORY; \
	} while (0)

/* NULL of NULL. */
static void *refer(const struct fake_thing *t)
{
	if (t)
		add(&fake.references, 1);
	return (void *)(uintptr_t)t;
}

/* Memory as JVMTI hands it out. */
static void *block(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		abort();
	add(&fake.blocks, 1);
	return p;
}

static char *copy(const char *text)
{
	char *p = block(strlen(text) + 1);

	memcpy(p, text, strlen(text));
	return p;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *p)
{
	(void)ti;
	if (p)
		add(&fake.blocks, -1);
	free(p);
	return JVMTI_ERROR_NONE;
}

static jint JNICALL push_frame(JNIEnv *jni, jint n)
{
	(void)jni, (void)n;
	if (fails())
		return JNI_ENOMEM;
	add(&fake.frames, 1);
	return JNI_OK;
}

static jobject JNICALL pop_frame(JNIEnv *jni, jobject result)
{
	(void)jni;
	add(&fake.frames, -1);
	return result;
}

static jint JNICALL ensure_capacity(JNIEnv *jni, jint n)
{
	(void)jni, (void)n;
	return fails() ? JNI_ENOMEM : JNI_OK;
}

static jboolean JNICALL exception_check(JNIEnv *jni)
{
	(void)jni;
	return fake.exception;
}

static void JNICALL exception_clear(JNIEnv *jni)
{
	(void)jni;
	fake.exception = false;
}

static void JNICALL delete_local(JNIEnv *jni, jobject object)
{
	(void)jni;
	if (object)
		add(&fake.references, -1);
}

static jobject JNICALL new_global(JNIEnv *jni, jobject object)
{
	(void)jni;
	if (fails())
		return NULL;
	add(&fake.globals, 1);
	return object;
}

static void JNICALL delete_global(JNIEnv *jni, jobject object)
{
	(void)jni, (void)object;
	add(&fake.globals, -1);
}

static jclass JNICALL get_class(JNIEnv *jni, jobject object)
{
	(void)jni;
	return refer(thing(object)->class);
}

static jclass JNICALL get_super(JNIEnv *jni, jclass class)
{
	(void)jni;
	return refer(thing(class)->super);
}

#endif
