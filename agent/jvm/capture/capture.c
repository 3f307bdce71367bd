#include "jvm/capture/capture.h"

#include <string.h>

#include "jvm/classes.h"
#include "jvm/jni_refs.h"
#include "wire/frame.h"

/*
 * The class of the exception that the hook throws.  HotSpot returns JVMTI_ERROR_UNSUPPORTED_VERSION
 * only for an exception of this class.
 */
#define THROWN "java/lang/UnsupportedClassVersionError"

#define FIRST_ROOM (16u * 1024)

/* Returns true if the signature is "Lp/C;" for the name "p/C". */
static bool is_name_of(const char *name, const char *signature)
{
	size_t len = name ? strlen(name) : 0;

	return len > 0 && strlen(signature) == len + 2 && memcmp(signature + 1, name, len) == 0;
}

/*
 * Returns true if the hook was called for the captured class.  Comparing `class` is not enough:
 * HotSpot may load a new class on the same thread while it redefines a class, and then calls the
 * hook with the redefined class, but with the name, loader and bytes of the new class.  An example
 * of such a new class is WeakPairMap$Pair$Weak, which JDK 9 and later load when HotSpot lets a
 * named module read the unnamed modules of agents.
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
 * Copies the bytes of the captured class and throws the exception.  HotSpot calls this hook on
 * every thread for every class.  For a class that is being loaded, `class` is NULL, and the hook
 * makes no call of the JVM: such a call may block the thread at a safepoint, and JDK 26 and 27
 * without the fix of JDK-8387045 need a minute more to exit while a thread is blocked there.
 *
 * Only the capturing thread has a value in this environment's thread-local storage.  On other
 * threads the hook returns, so it never uses a freed capture.  The environment itself is valid on
 * all threads in the hook: HotSpot frees an environment only when no thread is in a callback
 * (JvmtiEnvBase::periodic_clean_up).
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
	ag_ref_expect_callback(jni);
	if (!is_wanted(c, jni, class, loader, name))
		return;
	c->hits++;
	c->len = 0;
	c->no_memory = len < 0 || !make_room(c, (size_t)len);
	if (!c->no_memory) {
		memcpy(c->bytes, bytes, (size_t)len);
		c->len = (size_t)len;
	}
	/* Throw even if the copy failed: otherwise the JVM would complete the retransformation. */
	(void)(*jni)->Throw(jni, c->thrown);
}

/* Adds the capabilities that are available.  If one is missing, captures that need it will fail. */
static int add_capabilities(struct ag_jvm *jvm, jvmtiEnv *ti)
{
	jvmtiCapabilities can, want = { 0 };

	if (ag_jvmti_check(jvm, "GetPotentialCapabilities",
			   (*ti)->GetPotentialCapabilities(ti, &can)) != 0)
		return -1;
	want.can_retransform_classes = can.can_retransform_classes;
	want.can_retransform_any_class = can.can_retransform_any_class;
	want.can_redefine_classes = can.can_redefine_classes;
	want.can_redefine_any_class = can.can_redefine_any_class;
	return ag_jvmti_check(jvm, "AddCapabilities", (*ti)->AddCapabilities(ti, &want));
}

jthrowable ag_capture_exception(struct ag_jvm *jvm)
{
	JNIEnv *jni = jvm->jni;
	jclass class = (*jni)->FindClass(jni, THROWN);
	jthrowable thrown;

	if (ag_ref_threw(jvm, "FindClass"))
		return NULL;
	/* No constructor runs, so the exception has no stack trace, and JFR records no event. */
	thrown = (*jni)->AllocObject(jni, class);
	ag_ref_drop(jvm, class);
	return ag_ref_threw(jvm, "AllocObject") ? NULL : thrown;
}

static int listen_to_classes(struct ag_jvm *jvm, struct ag_capture *c)
{
	const jvmtiEventCallbacks callbacks = { .ClassFileLoadHook = hook };
	jvmtiEnv *ti = c->ti;

	if (ag_jvmti_check(jvm, "SetThreadLocalStorage",
			   (*ti)->SetThreadLocalStorage(ti, NULL, c)) != 0)
		return -1;
	return ag_jvmti_listen(jvm, ti, &callbacks, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
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

void ag_capture_close(struct ag_jvm *jvm, struct ag_capture *capture)
{
	(void)(*capture->ti)->DisposeEnvironment(capture->ti); /* fails only at JVM exit */
	ag_ref_drop(jvm, capture->thrown);
	ag_free(jvm->mem, capture->bytes);
	*capture = (struct ag_capture){ 0 };
}

/*
 * Returns true for VM-anonymous classes of JDK 8, such as "Lp/C$$Lambda$1/1234;".  JDK 8 reports
 * such classes as modifiable, but crashes when one of them is retransformed.  On JDK 9 and later
 * returns false, because IsModifiableClass there reports such classes as unmodifiable, and because
 * "Lp/1234;" can be the signature of an ordinary class.
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

/* Stores the error of a failed JVMTI call in *captured.  Returns 0; or -1 at JVM exit. */
static int failed(struct ag_jvm *jvm, jvmtiError code, struct ag_captured *captured)
{
	*captured = (struct ag_captured){ WIRE_CAPTURED_ERROR, code };
	return code == JVMTI_ERROR_WRONG_PHASE ? ag_jvmti_check(jvm, "capture a class", code) : 0;
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

/*
 * Requests a redefinition with `file` or, if `file` is NULL, a retransformation.  The hook makes
 * the JVM abandon this operation.  Returns the error of the request.
 */
static jvmtiError start_operation(struct ag_capture *c, jclass class, const uint8_t *file,
				  size_t len)
{
	const jvmtiClassDefinition definition = { class, (jint)len, file };

	if (!file)
		return (*c->ti)->RetransformClasses(c->ti, 1, &class);
	return (*c->ti)->RedefineClasses(c->ti, 1, &definition);
}

static int set_outcome(struct ag_jvm *jvm, const struct ag_capture *c, jvmtiError code,
		       struct ag_captured *captured)
{
	captured->code = code;
	if (code == JVMTI_ERROR_NONE) {
		captured->outcome = WIRE_CAPTURED_RETRANSFORMED;
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
	code = start_operation(c, class, file, len);
	c->class = NULL;
	/* HotSpot has turned the hook's exception into `code`; no exception may remain pending. */
	(*jvm->jni)->ExceptionClear(jvm->jni);
	ag_ref_drop(jvm, loader);
	return set_outcome(jvm, c, code, captured);
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
	ag_jvmti_free(jvm, signature);
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
		return ag_fail(jvm, "read a class file", "it is too large");
	return capture(jvm, c, class, file, len, captured);
}
