/*
 * The natives of the class with the hooks, and the class.  Hooks are built for speed, and the
 * rest for size: they run in the application's methods.
 */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include <poll.h>
#include <string.h>
#include <time.h>

#include "classfile/inject.h"
#include "jvm/profile_exact.h"
#include "jvm/ref.h"
#include "jvm/trace_state.h"

#define NAME "java/jtool/Hooks"
#define NAME_MAX_LEN 32
#define CLASSES_MAX 1000 /* builds of this library in one JVM */
#define DEFINE_MS 10000

static inline int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The trace that an id is of, if it goes on and this is not its own thread. */
static inline bool look_up(JNIEnv *jni, jint id, struct ag_hook *hook)
{
	struct ag_trace *trace = &ag_traces[(uint32_t)id & (AG_TRACES - 1)];
	uint64_t range = __atomic_load_n(&trace->range, __ATOMIC_ACQUIRE);
	uint32_t method = ((uint32_t)id >> AG_PLACE_BITS) - (uint32_t)(range >> 32);

	if (method >= (uint32_t)range || jni == __atomic_load_n(&trace->own, __ATOMIC_RELAXED))
		return false;
	hook->trace = trace;
	hook->at = ag_presence_of(trace, jni);
	hook->jni = jni;
	hook->range = range;
	hook->method = method;
	return true;
}

static inline uint32_t flags_of(const struct ag_trace *trace)
{
	return __atomic_load_n(&trace->flags, __ATOMIC_RELAXED);
}

/* Entry */

static __attribute__((noinline)) jlong open_call(struct ag_hook *hook)
{
	jlong token;

	hook->now_ns = now_ns();
	if (!ag_trace_come(hook->trace, hook->at, hook->range))
		return 0;
	token = ag_call_open(hook);
	ag_trace_go(hook->at);
	return token;
}

static jlong JNICALL hook_enter(JNIEnv *jni, jclass class, jint id)
{
	struct ag_hook hook;

	(void)class;
	if (!look_up(jni, id, &hook))
		return 0;
	if (flags_of(hook.trace) & WIRE_TRACE_VALUES)
		return open_call(&hook);
	return now_ns();
}

/* Arguments: an arg… is told the token alone, which tells the trace. */

static void argument(JNIEnv *jni, jlong token, const jvalue *value)
{
	struct ag_trace *trace = &ag_traces[(uint64_t)token & (AG_TRACES - 1)];
	struct ag_hook hook = {
		.trace = trace, .at = ag_presence_of(trace, jni), .jni = jni,
		.range = __atomic_load_n(&trace->range, __ATOMIC_ACQUIRE),
	};

	if (hook.range >> 32 != ag_token_first(token) || hook.range == 0 ||
	    !(flags_of(trace) & WIRE_TRACE_VALUES) ||
	    !ag_trace_come(trace, hook.at, hook.range))
		return;
	ag_call_argument(&hook, token, value);
	ag_trace_go(hook.at);
}

static void JNICALL hook_argI(JNIEnv *jni, jclass class, jlong token, jint v)
{
	(void)class;
	argument(jni, token, &(jvalue){ .i = v });
}

static void JNICALL hook_argJ(JNIEnv *jni, jclass class, jlong token, jlong v)
{
	(void)class;
	argument(jni, token, &(jvalue){ .j = v });
}

static void JNICALL hook_argF(JNIEnv *jni, jclass class, jlong token, jfloat v)
{
	(void)class;
	argument(jni, token, &(jvalue){ .f = v });
}

static void JNICALL hook_argD(JNIEnv *jni, jclass class, jlong token, jdouble v)
{
	(void)class;
	argument(jni, token, &(jvalue){ .d = v });
}

static void JNICALL hook_argL(JNIEnv *jni, jclass class, jlong token, jobject v)
{
	(void)class;
	argument(jni, token, &(jvalue){ .l = v });
}

/* Exits */

static __attribute__((noinline)) void tell_call(const struct ag_hook *hook, jlong token,
						bool threw, const jvalue *value)
{
	if (flags_of(hook->trace) & WIRE_TRACE_VALUES)
		ag_call_close(hook, token, threw, value);
	else
		ag_call_tell(hook, token, threw, value);
}

/* A call that nobody is told of is counted alone: that takes no part in anything. */
static inline bool is_only_counted(const struct ag_hook *hook, jlong token, bool threw)
{
	if (flags_of(hook->trace) & WIRE_TRACE_VALUES)
		return token == 0;
	return !threw && hook->now_ns - token <
		(int64_t)__atomic_load_n(&hook->trace->min_ns, __ATOMIC_RELAXED);
}

/* One body for all of them: to jump to it is cheap. */
static void leave(JNIEnv *jni, jlong token, jint id, bool threw, const jvalue *value)
{
	struct ag_hook hook;
	uint32_t flags;
	int64_t ns;

	if (!look_up(jni, id, &hook))
		return;
	flags = flags_of(hook.trace);
	if (token == 0 && !(flags & WIRE_TRACE_VALUES))
		return;
	hook.now_ns = now_ns();
	if (is_only_counted(&hook, token, threw)) {
		ag_count(&hook.at->count, AG_ONE_CALL);
		return;
	}
	if (!ag_trace_come(hook.trace, hook.at, hook.range))
		return;
	if (flags & WIRE_TRACE_SUMMED) {
		ns = hook.now_ns - token;
		if (!ag_sums_add(&hook.trace->sums, jni, hook.method, ns > 0 ? (uint64_t)ns : 0,
				 threw))
			ag_count(&hook.at->no_room, 1);
	} else {
		tell_call(&hook, token, threw, value);
	}
	ag_trace_go_counted(hook.at);
}

static void JNICALL hook_exit(JNIEnv *jni, jclass class, jlong token, jint id)
{
	(void)class;
	leave(jni, token, id, false, NULL);
}

static void JNICALL hook_exitI(JNIEnv *jni, jclass class, jint v, jlong token, jint id)
{
	(void)class;
	leave(jni, token, id, false, &(jvalue){ .i = v });
}

static void JNICALL hook_exitJ(JNIEnv *jni, jclass class, jlong v, jlong token, jint id)
{
	(void)class;
	leave(jni, token, id, false, &(jvalue){ .j = v });
}

static void JNICALL hook_exitF(JNIEnv *jni, jclass class, jfloat v, jlong token, jint id)
{
	(void)class;
	leave(jni, token, id, false, &(jvalue){ .f = v });
}

static void JNICALL hook_exitD(JNIEnv *jni, jclass class, jdouble v, jlong token, jint id)
{
	(void)class;
	leave(jni, token, id, false, &(jvalue){ .d = v });
}

static void JNICALL hook_exitL(JNIEnv *jni, jclass class, jobject v, jlong token, jint id)
{
	(void)class;
	leave(jni, token, id, false, &(jvalue){ .l = v });
}

static void JNICALL hook_fail(JNIEnv *jni, jclass class, jthrowable thrown, jlong token, jint id)
{
	(void)class;
	leave(jni, token, id, true, &(jvalue){ .l = thrown });
}

/* The class */

static char name[NAME_MAX_LEN];
static uint32_t defined; /* by whoever it is; 0, or one of these */
enum { NOT_YET, DEFINING, DEFINED };

const char *ag_trace_hooks(void)
{
	return name;
}

static void set_name(unsigned number)
{
	char digits[8];
	size_t n = 0, len = sizeof(NAME) - 1;

	for (; number > 0; number /= 10)
		digits[n++] = (char)('0' + number % 10);
	memcpy(name, NAME, len);
	while (n > 0)
		name[len++] = digits[--n];
	name[len] = '\0';
}

static int bind(struct ag_jvm *jvm, jclass class)
{
	/* Those of a profile are elsewhere.  JNI's types are without const. */
#define hook_made ag_hook_made
#define hook_array ag_hook_array
#define hook_arrays ag_hook_arrays
#define hook_result ag_hook_result
	static const JNINativeMethod natives[] = {
#define HOOK(name, descriptor) { (char *)#name, (char *)descriptor, (void *)hook_##name },
#include "classfile/hooks.def"
#undef HOOK
	};
	jint rc = (*jvm->jni)->RegisterNatives(jvm->jni, class, natives,
					       sizeof(natives) / sizeof(natives[0]));

	if (ag_ref_threw(jvm, "RegisterNatives"))
		return -1;
	return rc == JNI_OK ? 0 : ag_fail(jvm, "RegisterNatives", "the JVM refused");
}

/* 1: done; 0: there is such a class already, of another build's; -1: recorded. */
static int define_one(struct ag_jvm *jvm)
{
	struct cf_output bytes = { .mem = jvm->mem };
	jclass class = NULL;
	int rc = 0;

	cf_hooks_class(name, &bytes);
	if (bytes.failed) {
		rc = ag_fail_memory(jvm);
	} else {
		class = (*jvm->jni)->DefineClass(jvm->jni, name, NULL, (const jbyte *)bytes.data,
						 (jsize)bytes.len);
		if ((*jvm->jni)->ExceptionCheck(jvm->jni))
			(*jvm->jni)->ExceptionClear(jvm->jni);
	}
	cf_output_release(&bytes);
	if (class)
		rc = bind(jvm, class) == 0 ? 1 : -1;
	ag_ref_drop(jvm, class);
	return rc;
}

static int define(struct ag_jvm *jvm)
{
	int rc = 0;

	for (unsigned i = 1; i <= CLASSES_MAX && rc == 0; i++) {
		set_name(i);
		rc = define_one(jvm);
	}
	if (rc == 0)
		return ag_fail(jvm, "define the class with the hooks", "the JVM refused");
	return rc > 0 ? 0 : -1;
}

/* Once for each image of the library; another session may be at it. */
int ag_hooks_define(struct ag_jvm *jvm)
{
	for (int ms = 0; ms < DEFINE_MS; ms++) {
		uint32_t was = NOT_YET;
		int rc;

		if (__atomic_compare_exchange_n(&defined, &was, DEFINING, false, __ATOMIC_ACQUIRE,
						__ATOMIC_ACQUIRE)) {
			rc = define(jvm);
			__atomic_store_n(&defined, rc == 0 ? DEFINED : NOT_YET,
					 __ATOMIC_RELEASE);
			return rc;
		}
		if (was == DEFINED)
			return 0;
		(void)poll(NULL, 0, 1);
	}
	return ag_fail(jvm, "define the class with the hooks", "another session is at it");
}
