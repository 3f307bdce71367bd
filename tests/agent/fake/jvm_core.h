/*
 * The core of the fake JVM: objects, references, memory, and the call that fails.
 *
 * The parts of the fake JVM share the function tables, the counts and the objects that are declared
 * here.  A test adds the parts that it needs to the tables, see jvm_parts.h.  A function that no
 * part has added is NULL.
 *
 * Every call that may fail is counted from 1, and the call with the number fail_at fails.  A JNI
 * function that fails leaves an exception.  All functions may run on any thread.
 */
#ifndef JTOOL_TESTS_JVM_CORE_H
#define JTOOL_TESTS_JVM_CORE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_THREADS 32
#define FAKE_FIELDS 6

/* A method; its jmethodID is the address of this struct. */
struct fake_method {
	struct fake_object *class;
	const char *name, *descriptor;
	const unsigned char *code;
	jint len;
	jint modifiers;
	bool obsolete, unloaded;
};

/* A field; its jfieldID is the address of this struct. */
struct fake_field {
	const struct fake_object *class;
	const char *name, *signature;
	size_t index; /* in the `fields` of an object */
	jint modifiers;
};

/* An object or a class.  Only a class has the members from `signature` on. */
struct fake_object {
	struct fake_object *class;
	jlong size, tag;
	jint len; /* of an array, in elements; -1: not an array */
	bool visited;
	const char *text; /* of a String */
	const jvalue *elements; /* of an array */
	uintptr_t *slots; /* elements of an Object[] in the heap: addresses, in its own memory */
	jvalue fields[FAKE_FIELDS];

	const char *signature;
	struct fake_object *super, *interface, *loader;
	const struct fake_method *methods;
	size_t n_methods;
	jint modifiers, hash;
	uint32_t klass; /* the class's number in the headers of its objects */
	bool unprepared, unmodifiable, absent, unloaded;
	const char *source;
};

/* What the agent has received from the JVM and has not released. */
struct fake_counts {
	long blocks;     /* of memory allocated by JVMTI */
	long references; /* local references */
	long frames;     /* frames of local references */
	long globals, weak;
	long monitors, environments, tags;
};

struct fake_jvm {
	/* How the JVM behaves */
	int release;           /* the JDK as JVMTI's major version: 1 for JDK 8, 17 for JDK 17 */
	unsigned fail_at;      /* the number of the call that fails; 0: no call fails */
	unsigned weak_fails_at; /* the NewLocalRef of a weak reference that fails; 0: none */
	bool leaving;          /* JVMTI functions return WRONG_PHASE from call fail_at on */
	bool in_agent;         /* calloc() counts as a call that may fail */
	bool frames_are_empty; /* popping a frame with references in it fails the test */
	bool odd_references;   /* local references have a low bit set */
	unsigned other_thread; /* > 0: the application's second thread is running */
	unsigned loading;      /* the number of classes that the second thread is loading */
	jvmtiCapabilities unavailable;
	/* Classes, and the fields and methods that are looked up by name */
	struct fake_object *const *loaded;
	jint n_loaded;
	const struct fake_field *fields;
	size_t n_fields;
	jint hash; /* the hash of all objects; 0: each object's own `hash` */
	/* Allocates an object in the heap; NULL: there is no heap. */
	struct fake_object *(*allocate)(const char *signature, jlong size, jint len);
	/*
	 * The layout of arrays in bytes: the alignment of objects, the header with the length, and
	 * a reference.  If align is 0, an array of n elements has 24 + 8 * n bytes.
	 */
	jlong align, header, reference;
	/* Threads.  A thread whose fake_current is NULL is current_thread. */
	struct fake_object *current_thread, *app_thread, *thread_group, *context_loader;
	const jvmtiFrameInfo *stack; /* of threads whose fake_depth is 0; innermost frame first */
	jint depth;
	bool named_threads; /* GetStackTrace() fails the test if not given the current thread */
	/* Called during the call of a JVMTI function */
	void (*in_signature)(void);    /* GetClassSignature() */
	void (*in_stack_trace)(void);  /* GetStackTrace() */
	void (*in_class_loader)(void); /* GetClassLoader() on the second thread */
	/* GetClassLoader(), GetClassMethods(), IsModifiableClass() */
	void (*on_class)(const struct fake_object *class);

	/* What the agent has done */
	unsigned calls;
	bool exception;
	struct fake_object *thrown;
	char *last_signature; /* the block that GetClassSignature() returned last */
	unsigned walks;       /* calls of GetStackTrace() */
	jvmtiStartFunction thread; /* the agent's thread, started and not run yet; NULL: none */
	void *thread_arg;
	jvmtiEnv *thread_ti;
	unsigned disposed_with_capabilities; /* the number of environments */
	struct fake_counts counts, marked; /* now, and at the last fake_mark() */
	/* Raw monitors that the running thread holds: all, and those that hooks wait for. */
	int locks, brief_locks;
};
extern struct fake_jvm fake;

extern struct JNINativeInterface_ fake_jni_table;
extern jvmtiInterface_1 fake_ti_table;

JavaVM *fake_vm(void);
/* Returns the JNI environment of a thread, which is a number less than FAKE_THREADS. */
JNIEnv *fake_jni(unsigned thread);
unsigned fake_thread_of(const JNIEnv *jni);

/* Records the current counts as those that fake_nothing_left() expects. */
void fake_mark(void);
/* Fails the test unless the counts are as at the last fake_mark(), and no exception is pending. */
void fake_nothing_left(void);

/*
 * For parts, and for functions that a test adds.
 *
 * A reference that the JVM returns is the address of a slot, as in HotSpot.  The slot has the
 * address after the struct fake_object, where the words of a heap object begin.  A test may instead
 * pass the address of a struct fake_object as a reference.
 */

/* Counts a call that may fail.  Returns true if it fails. */
bool fake_fails(void);
/* Like fake_fails(), and sets the exception.  Fails the test if one is already pending. */
bool fake_throws(void);
/* Counts a JVMTI call that may fail.  Returns its error. */
jvmtiError fake_ti_fails(void);
#define FAKE_TI_FAILS()                          \
	do {                                     \
		jvmtiError e_ = fake_ti_fails(); \
		if (e_)                          \
			return e_;               \
	} while (0)

/* Returns a new local reference; NULL for NULL. */
jobject fake_ref(const struct fake_object *object);
/* Returns the object of a reference.  Fails the test for NULL and for a deleted reference. */
struct fake_object *fake_object_of(jobject ref);
/* Calls `take` with the object of each local reference of the calling thread. */
void fake_each_ref(void (*take)(void *arg, struct fake_object *object), void *arg);

/* Returns an object without special properties, one of 64 in turn.  `class` may be NULL. */
struct fake_object *fake_plain(struct fake_object *class);

/* Returns zeroed memory that the counts do not include.  Never fails. */
void *fake_zeroed(size_t size);
/* Returns zeroed memory as from Allocate(), and counts the block.  Never fails. */
void *fake_block(size_t size);
/* Returns a copy of `text` in a fake_block(). */
char *fake_text(const char *text);

static inline void fake_add(long *counter, long n)
{
	(void)__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
