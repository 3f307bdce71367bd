/* Stack walks, and facts about the methods on top of a stack. */
#include <string.h>

#include "classfile/code.h"
#include "jvm/alloc/alloc_exact_state.h"

/*
 * The facts about a method are bits.  KNOWN is set once the facts are determined.  The bits of CALL
 * are 1 + the bytecode index at which a constructor calls this() or super(), or 0 if the method
 * does not call them.
 */
#define KNOWN (UINT32_C(1) << 31)
#define CONSTRUCTOR (UINT32_C(1) << 30)
#define CALL (UINT32_C(0x1ffff))
/*
 * Facts about a native method that allocates objects.  COUNTED: a hook counts the objects.
 * COUNTED_BY: a hook counts the objects if a caller of the native method is instrumented, that is,
 * if one of the stack frames `from` to `to` is executing a call directly before a hook.
 */
#define COUNTED (UINT32_C(1) << 29)
#define COUNTED_BY(from, to) ((uint32_t)(from) << 20 | (uint32_t)(to) << 17)
/*
 * A fact about a method that calls a COUNTED_BY native method and returns the new object.  The
 * caller of the method then calls a constructor of the object, so the hook in the constructor of
 * java.lang.Object counts the object.
 */
#define CALLS_COUNTED (UINT32_C(1) << 28)
#define COUNTED_FROM(facts) ((facts) >> 20 & 7)
#define COUNTED_TO(facts) ((facts) >> 17 & 7)
#define PROBES 16u

#define COUNTED_FRAMES 4u

/*
 * Returns 1 + the bytecode index at which a constructor calls this() or super(), or 0 if it calls
 * neither.  Before this call has returned, a constructor cannot call another method of `this`.  So
 * in nearly all code from a Java compiler, an earlier invokespecial initialises an argument that a
 * `new` has created, and the call is the first invokespecial to which no earlier `new` belongs.  In
 * other code, the result may be wrong; the reported stack then has one frame too many.
 */
static uint32_t find_call(const uint8_t *code, uint32_t len)
{
	uint32_t open = 0;
	struct cf_insn insn;

	for (uint32_t pc = 0; pc < len && cf_insn(code, len, pc, &insn); pc += insn.len) {
		if (insn.opcode == OP_new)
			open++;
		else if (insn.opcode == OP_invokespecial && open == 0)
			return pc + 1;
		else if (insn.opcode == OP_invokespecial)
			open--;
	}
	return 0;
}

static uint32_t constructor_facts(const struct ag_alloc_profile *profile, jmethodID method)
{
	unsigned char *code = NULL;
	uint32_t call;
	jint len = 0;

	if ((*profile->ti)->GetBytecodes(profile->ti, method, &len, &code) != JVMTI_ERROR_NONE)
		return CONSTRUCTOR;
	call = find_call(code, (uint32_t)len);
	(void)(*profile->ti)->Deallocate(profile->ti, code);
	return CONSTRUCTOR | call;
}

/*
 * Native methods that allocate objects which a hook counts.  HotSpot also sends VMObjectAlloc for
 * these objects, so the callback must not count them again.  COUNTED: the hook is in the
 * constructor of java.lang.Object.  COUNTED_BY(from, to): the hook is in one of the native method's
 * callers, after its call: in frame `from` at the earliest, which is 1 for the direct caller, and
 * in frame `to` at the latest.
 * CALLS_COUNTED: the method is not native, but calls a native method of this table.
 */
static const struct {
	const char *name, *class; /* `class`: the class's signature ends with it */
	uint32_t facts;
} natives[] = {
	{ "newInstance0", "ConstructorAccessorImpl;", COUNTED },
	{ "newInstance0", "ConstructorHandleAccessor$NativeAccessor;", COUNTED },
	{ "allocateInstance", "Ljava/lang/invoke/DirectMethodHandle;", CALLS_COUNTED },
	{ "clone", "Ljava/lang/Object;", COUNTED_BY(1, 1) },
	{ "allocateInstance", "/misc/Unsafe;", COUNTED_BY(1, 1) },
	/*
	 * The application calls Array.newInstance or Arrays.copyOf, which call newArray.  The hook
	 * that counts is in the application's method, after that call.
	 */
	{ "newArray", "Ljava/lang/reflect/Array;", COUNTED_BY(2, 3) },
};
#define N_NATIVES (sizeof(natives) / sizeof(natives[0]))

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static uint32_t native_facts(const struct ag_alloc_profile *profile, JNIEnv *jni, jmethodID method,
			     const char *name)
{
	jvmtiEnv *ti = profile->ti;
	char *signature = NULL;
	jclass class = NULL;
	uint32_t facts = 0;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &class) != JVMTI_ERROR_NONE)
		return 0;
	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) == JVMTI_ERROR_NONE) {
		for (size_t i = 0; i < N_NATIVES && facts == 0; i++) {
			if (strcmp(name, natives[i].name) == 0 &&
			    ends_in(signature, natives[i].class))
				facts = natives[i].facts;
		}
		(void)(*ti)->Deallocate(ti, (unsigned char *)signature);
	}
	(*jni)->DeleteLocalRef(jni, class);
	return facts;
}

static uint32_t find_facts(const struct ag_alloc_profile *profile, JNIEnv *jni, jmethodID method)
{
	char *name = NULL;
	uint32_t facts = KNOWN;

	if ((*profile->ti)->GetMethodName(profile->ti, method, &name, NULL, NULL) !=
	    JVMTI_ERROR_NONE)
		return KNOWN;
	if (strcmp(name, "<init>") == 0)
		facts |= constructor_facts(profile, method);
	else
		facts |= native_facts(profile, jni, method, name);
	(void)(*profile->ti)->Deallocate(profile->ti, (unsigned char *)name);
	return facts;
}

/*
 * Returns the facts about a method.  Caches the facts, unless other methods use all PROBES entries
 * of the cache in which these facts may be stored.
 */
static uint32_t facts_of(const struct ag_alloc_profile *profile, JNIEnv *jni, jmethodID method)
{
	uint64_t id = (uint64_t)(uintptr_t)method;
	uint32_t first = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - AG_METHODS_BITS));
	uint32_t facts;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct ag_method_facts *at = &profile->exact->methods[(first + i) &
			((1u << AG_METHODS_BITS) - 1)];
		uint64_t was = 0;

		if (!__atomic_compare_exchange_n(&at->method, &was, id, false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED) && was != id)
			continue;
		facts = __atomic_load_n(&at->facts, __ATOMIC_RELAXED);
		if (facts == 0) {
			facts = find_facts(profile, jni, method);
			__atomic_store_n(&at->facts, facts, __ATOMIC_RELAXED);
		}
		return facts;
	}
	return find_facts(profile, jni, method);
}

/*
 * Returns true if the thread is a virtual thread that has no carrier, because it is being mounted
 * or unmounted.  GetStackTrace would then wait for the end of the transition, in JDK 21
 * forever (jvmtiThreadState.cpp, JvmtiVTMSTransitionDisabler::VTMS_transition_disable_for_one).
 */
static bool is_in_transition(const struct ag_alloc_profile *profile, JNIEnv *jni, jthread thread)
{
	jfieldID field = __atomic_load_n(&profile->exact->carrier, __ATOMIC_ACQUIRE);
	jclass class;
	jobject carrier;

	if (!field)
		return false;
	class = __atomic_load_n(&profile->exact->virtual_threads, __ATOMIC_RELAXED);
	if (!(*jni)->IsInstanceOf(jni, thread, class))
		return false;
	carrier = (*jni)->GetObjectField(jni, thread, field);
	if (!carrier)
		return true;
	(*jni)->DeleteLocalRef(jni, carrier);
	return false;
}

/*
 * Reads up to `max` frames of the current thread's stack, from depth `from` on.  Does not pass NULL
 * (the current thread) to GetStackTrace: on JDK 19 to 24, it would then wait for all virtual
 * threads that are being mounted or unmounted (see trace_values.h).
 */
static uint32_t stack_of(const struct ag_alloc_profile *profile, JNIEnv *jni, jint from,
			 uint32_t max, jvmtiFrameInfo *frames)
{
	jthread self = NULL;
	jint n = 0;

	if ((*profile->ti)->GetCurrentThread(profile->ti, &self) != JVMTI_ERROR_NONE || !self)
		return 0; /* the JVM is attaching the thread */
	if (is_in_transition(profile, jni, self) ||
	    (*profile->ti)->GetStackTrace(profile->ti, self, from, (jint)max, frames, &n) !=
	    JVMTI_ERROR_NONE)
		n = 0;
	(*jni)->DeleteLocalRef(jni, self);
	return (uint32_t)n;
}

/*
 * Returns true if the code of the frame's method has a hook directly after the call that the frame
 * is executing.  The code that calls a hook begins with dup and sipush, which pushes a part of the
 * site number.
 */
static bool is_hooked(const struct ag_alloc_profile *profile, const jvmtiFrameInfo *frame)
{
	unsigned char *code = NULL;
	struct cf_insn call, dup, id;
	bool is = false;
	jint len = 0;

	if (frame->location < 0 || (*profile->ti)->GetBytecodes(profile->ti, frame->method, &len,
								&code) != JVMTI_ERROR_NONE)
		return false;
	is = cf_insn(code, (uint32_t)len, (uint32_t)frame->location, &call) &&
		cf_insn(code, (uint32_t)len, call.pc + call.len, &dup) && dup.opcode == OP_dup &&
		cf_insn(code, (uint32_t)len, dup.pc + dup.len, &id) &&
		id.opcode == OP_sipush;
	(void)(*profile->ti)->Deallocate(profile->ti, code);
	return is;
}

bool ag_exact_is_counted_elsewhere(const struct ag_alloc_profile *profile, JNIEnv *jni)
{
	jvmtiFrameInfo frames[COUNTED_FRAMES];
	uint32_t n = stack_of(profile, jni, 0, COUNTED_FRAMES, frames);
	uint32_t facts = n > 0 ? facts_of(profile, jni, frames[0].method) : 0;

	if (facts & CONSTRUCTOR)
		return false;
	for (uint32_t i = COUNTED_FROM(facts); i != 0 && i <= COUNTED_TO(facts) && i < n; i++) {
		if (facts_of(profile, jni, frames[i].method) & CALLS_COUNTED ||
		    is_hooked(profile, &frames[i]))
			return true;
	}
	return (facts & COUNTED) != 0;
}

/*
 * Returns how many of the topmost frames are constructors of the object that is being allocated.
 * frames[0] is the constructor of java.lang.Object; each further constructor called the constructor
 * in the frame before it with super() or this().
 */
static uint32_t constructors(const struct ag_alloc_profile *profile, JNIEnv *jni,
			     const jvmtiFrameInfo *frames, uint32_t n)
{
	uint32_t i = 0;

	if (n > 0 && facts_of(profile, jni, frames[0].method) & CONSTRUCTOR)
		i = 1;
	while (i > 0 && i < n) {
		uint32_t facts = facts_of(profile, jni, frames[i].method);

		if (!(facts & CONSTRUCTOR) || (int64_t)(facts & CALL) != frames[i].location + 1)
			break;
		i++;
	}
	return i;
}

uint32_t ag_exact_stack(const struct ag_alloc_profile *profile, JNIEnv *jni,
			enum ag_alloc_origin origin, jvmtiFrameInfo *frames)
{
	uint32_t depth = profile->wanted.depth, max = depth, n, skip = 0;

	if (depth > WIRE_ALLOC_DEPTH)
		depth = max = WIRE_ALLOC_DEPTH;
	if (origin == AG_ORIGIN_CONSTRUCTOR)
		max += AG_CONSTRUCTORS;
	n = stack_of(profile, jni, origin == AG_ORIGIN_VM ? 0 : 1, max, frames);
	if (origin == AG_ORIGIN_CONSTRUCTOR)
		skip = constructors(profile, jni, frames, n);
	if (skip > 0)
		memmove(frames, frames + skip, (n - skip) * sizeof(*frames));
	return n - skip < depth ? n - skip : depth;
}
