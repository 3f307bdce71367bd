#include "jvm/capture.h"

#include <string.h>

#include "jvm/classes.h"
#include "jvm/ref.h"
#include "wire/frame.h"

/* Of all errors of a retransformation only this exception has JVMTI_ERROR_UNSUPPORTED_VERSION. */
#define THROWN "java/lang/UnsupportedClassVersionError"

#define FIRST_ROOM (16u * 1024)

/* "p/C" and "Lp/C;" */
static bool is_name_of(const char *name, const char *signature)
{
	size_t len = name ? strlen(name) : 0;

	return len > 0 && strlen(signature) == len + 2 && memcmp(signature + 1, name, len) == 0;
}

/*
 * The class alone does not tell: while a class is being redefined, HotSpot may load another one
 * on the same thread, and the hook is told the class that is being redefined with that one's
 * name and bytes (JDK 9+ with java/lang/WeakPairMap$Pair$Weak, for the first class of a named
 * module: it lets the module read those of the agents).
 */
static bool is_wanted(const struct ag_capture *c, JNIEnv *jni, jclass class, jobject loader,
		      const char *name)
{
	return c->class && is_name_of(name, c->signature) &&
	       (*jni)->IsSameObject(jni, class, c->class) &&
	       (*jni)->IsSameObject(jni, loader, c->loader);
}

static bool make_room(struct ag_capture *c, size_t len)
{
	size_t cap = c->cap ? c->cap : FIRST_ROOM;

	if (len <= c->cap)
		return true;
	while (cap < len)
		cap *= 2;
	ag_free(c->mem, c->bytes);
	c->bytes = ag_alloc(c->mem, cap, 1);
	c->cap = c->bytes ? cap : 0;
	return c->bytes;
}

/*
 * On every thread, for every class.  One that is merely loaded is let through without any call,
 * which might have to wait for a safepoint: JDK 26 and 27, until JDK-8387045, cannot come to one
 * when they exit while a thread waits for it in a hook, and take a minute more to exit.
 *
 * Only on the thread that captures is there anything in this environment's thread-local storage:
 * the others come no further, and never follow a pointer to what that thread may have given back
 * meanwhile.  The environment itself they may look at: HotSpot frees one only when no thread is
 * in a callback (JvmtiEnvBase::periodic_clean_up).
 */
static void JNICALL hook(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject loader,
			 const char *name, jobject domain, jint len, const unsigned char *bytes,
			 jint *new_len, unsigned char **new_bytes)
{
	void *storage = NULL;
	struct ag_capture *c;

	(void)domain, (void)new_len, (void)new_bytes;
	if (!class)
		return;
	if ((*ti)->GetThreadLocalStorage(ti, NULL, &storage) != JVMTI_ERROR_NONE || !storage)
		return;
	c = storage;
	/*
	 * -Xcheck:jni holds the roster's references against the 32 that a callback may have, until
	 * more than these are asked for.
	 */
	(void)(*jni)->EnsureLocalCapacity(jni, 64); /* what it threw, the exception replaces */
	if (!is_wanted(c, jni, class, loader, name))
		return;
	c->hits++;
	c->len = 0;
	c->no_memory = len < 0 || !make_room(c, (size_t)len);
	if (!c->no_memory) {
		memcpy(c->bytes, bytes, (size_t)len);
		c->len = (size_t)len;
	}
	/* Whatever came of the copy: without the exception the JVM goes on and does it. */
	(void)(*jni)->Throw(jni, c->thrown);
}

/* Only what can be had: a JVM that knows none of it says so when a class is asked for. */
static int add_capabilities(struct ag_jvm *jvm, jvmtiEnv *ti)
{
	jvmtiCapabilities can, want = { 0 };

	if (ag_ti_check(jvm, "GetPotentialCapabilities",
			(*ti)->GetPotentialCapabilities(ti, &can)) != 0)
		return -1;
	want.can_retransform_classes = can.can_retransform_classes;
	want.can_retransform_any_class = can.can_retransform_any_class;
	want.can_redefine_classes = can.can_redefine_classes;
	want.can_redefine_any_class = can.can_redefine_any_class;
	return ag_ti_check(jvm, "AddCapabilities", (*ti)->AddCapabilities(ti, &want));
}

jthrowable ag_capture_exception(struct ag_jvm *jvm)
{
	JNIEnv *jni = jvm->jni;
	jclass class = (*jni)->FindClass(jni, THROWN);
	jthrowable thrown;

	if (ag_ref_threw(jvm, "FindClass"))
		return NULL;
	/* Without its constructor: no stack trace, and no event of the flight recorder's. */
	thrown = (*jni)->AllocObject(jni, class);
	ag_ref_drop(jvm, class);
	return ag_ref_threw(jvm, "AllocObject") ? NULL : thrown;
}

static int listen_to_classes(struct ag_jvm *jvm, struct ag_capture *c)
{
	const jvmtiEventCallbacks callbacks = { .ClassFileLoadHook = hook };
	jvmtiEnv *ti = c->ti;

	if (ag_ti_check(jvm, "SetThreadLocalStorage",
			(*ti)->SetThreadLocalStorage(ti, NULL, c)) != 0)
		return -1;
	return ag_ti_listen(jvm, ti, &callbacks, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
}

int ag_capture_open(struct ag_jvm *jvm, struct ag_capture *capture)
{
	*capture = (struct ag_capture){ .mem = jvm->mem };
	if ((*jvm->vm)->GetEnv(jvm->vm, (void **)&capture->ti, JVMTI_VERSION_1_1) != JNI_OK) {
		capture->ti = NULL;
		return ag_fail(jvm, "GetEnv", "no JVMTI environment");
	}
	if (add_capabilities(jvm, capture->ti) == 0)
		capture->thrown = ag_capture_exception(jvm);
	if (capture->thrown && listen_to_classes(jvm, capture) == 0)
		return 0;
	ag_capture_close(jvm, capture);
	return -1;
}

/* An environment that is disposed of sends no more events, and its storage goes with it. */
void ag_capture_close(struct ag_jvm *jvm, struct ag_capture *capture)
{
	(void)(*capture->ti)->DisposeEnvironment(capture->ti); /* the JVM may be leaving */
	ag_ref_drop(jvm, capture->thrown);
	ag_free(jvm->mem, capture->bytes);
	*capture = (struct ag_capture){ 0 };
}

/*
 * "Lp/C$$Lambda$1/1234;" on JDK 8: such a class is said to be modifiable, and trying ends the
 * process.  From JDK 9 on none is, and a class that is merely called p.1234 is a class.
 */
static bool is_anonymous(struct ag_jvm *jvm, const char *signature)
{
	size_t len = strlen(signature) - 1, at = len;

	if ((*jvm->jni)->GetVersion(jvm->jni) >= JNI_VERSION_9)
		return false;
	while (at > 0 && signature[at - 1] >= '0' && signature[at - 1] <= '9')
		at--;
	return at > 0 && at < len && signature[at - 1] == '/';
}

/* A failed call is the class's own affair, unless the JVM is leaving. */
static int failed(struct ag_jvm *jvm, jvmtiError code, struct ag_captured *captured)
{
	*captured = (struct ag_captured){ WIRE_CAPTURED_ERROR, code };
	return code == JVMTI_ERROR_WRONG_PHASE ? ag_ti_check(jvm, "capture a class", code) : 0;
}

int ag_capture_can(struct ag_jvm *jvm, jclass class, const char *signature,
		   struct ag_captured *captured)
{
	jboolean modifiable = JNI_FALSE;
	jvmtiError code;

	*captured = (struct ag_captured){ 0 };
	if (*signature != 'L') {
		captured->outcome = WIRE_CAPTURED_ARRAY;
		return 0;
	}
	if (is_anonymous(jvm, signature)) {
		captured->outcome = WIRE_CAPTURED_ANONYMOUS;
		return 0;
	}
	code = (*jvm->ti)->IsModifiableClass(jvm->ti, class, &modifiable);
	if (code != JVMTI_ERROR_NONE)
		return failed(jvm, code, captured);
	if (!modifiable)
		captured->outcome = WIRE_CAPTURED_HIDDEN;
	return modifiable ? 1 : 0;
}

/* The operation that the hook is to break off; file NULL: a retransformation. */
static jvmtiError attempt(struct ag_capture *c, jclass class, const uint8_t *file, size_t len)
{
	const jvmtiClassDefinition definition = { class, (jint)len, file };

	if (!file)
		return (*c->ti)->RetransformClasses(c->ti, 1, &class);
	return (*c->ti)->RedefineClasses(c->ti, 1, &definition);
}

static int judge(struct ag_jvm *jvm, const struct ag_capture *c, jvmtiError code,
		 struct ag_captured *captured)
{
	captured->code = code;
	if (code == JVMTI_ERROR_NONE) {
		captured->outcome = WIRE_CAPTURED_REAL;
		return 0;
	}
	if (c->no_memory)
		return ag_fail_memory(jvm);
	if (code != JVMTI_ERROR_UNSUPPORTED_VERSION || c->hits != 1)
		return failed(jvm, code, captured);
	captured->outcome = WIRE_CAPTURED_FILE;
	return 0;
}

static int capture_known(struct ag_jvm *jvm, struct ag_capture *c, jclass class,
			 const uint8_t *file, size_t len, struct ag_captured *captured)
{
	jvmtiError code;
	jobject loader;

	if (ag_class_loader(jvm, class, &loader) != 0)
		return -1;
	c->len = 0;
	c->hits = 0;
	c->no_memory = false;
	c->loader = loader;
	c->class = class;
	code = attempt(c, class, file, len);
	c->class = NULL;
	/* The JVM takes the exception for its own; one that stayed would hit who is next. */
	(*jvm->jni)->ExceptionClear(jvm->jni);
	ag_ref_drop(jvm, loader);
	return judge(jvm, c, code, captured);
}

static int capture(struct ag_jvm *jvm, struct ag_capture *c, jclass class, const uint8_t *file,
		   size_t len, struct ag_captured *captured)
{
	char *signature = ag_class_signature(jvm, class);
	int rc;

	if (!signature)
		return -1;
	c->signature = signature;
	rc = ag_capture_can(jvm, class, signature, captured);
	if (rc > 0)
		rc = capture_known(jvm, c, class, file, len, captured);
	ag_ti_free(jvm, signature);
	return rc;
}

int ag_capture_class(struct ag_jvm *jvm, struct ag_capture *c, jclass class,
		     struct ag_captured *captured)
{
	return capture(jvm, c, class, NULL, 0, captured);
}

int ag_capture_redefinition(struct ag_jvm *jvm, struct ag_capture *c, jclass class,
			    const uint8_t *file, size_t len, struct ag_captured *captured)
{
	if (len > INT32_MAX)
		return ag_fail(jvm, "read a class file", "it is too long");
	return capture(jvm, c, class, file, len, captured);
}
