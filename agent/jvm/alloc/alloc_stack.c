/* Stacks, and what is to be known of the methods on top of them. */
#include <string.h>

#include "classfile/code.h"
#include "jvm/profile_exact_state.h"

/*
 * What is known of a method: of a constructor 1 + the place in its code where it calls this() or
 * super(), 1 being none at all.
 */
#define KNOWN (UINT32_C(1) << 31)
#define CONSTRUCTOR (UINT32_C(1) << 30)
#define PLACE (UINT32_C(0x1ffff))
/* Or of a native whose objects others tell of: always, or behind a call in one of these frames. */
#define TOLD (UINT32_C(1) << 29)
#define TOLD_BY(from, to) ((uint32_t)(from) << 20 | (uint32_t)(to) << 17)
#define TELLS (UINT32_C(1) << 28) /* it calls such a native, and then a constructor */
#define TOLD_FROM(what) ((what) >> 20 & 7)
#define TOLD_TO(what) ((what) >> 17 & 7)
#define PROBES 16u

#define TOLD_FRAMES 4u

enum opcode {
	OP_SIPUSH = 0x11,
	OP_DUP = 0x59,
	OP_INVOKESPECIAL = 0xb7,
	OP_NEW = 0xbb,
};

/*
 * Where a constructor calls this() or super(): the first invokespecial that does not belong to a
 * `new` further in front (of an argument).  In front of it there can be no other: nothing may be
 * done with an object that is not initialised yet.  What is found in other code than Java
 * compilers make may be none: then one frame more is shown.
 */
static uint32_t find_call(const uint8_t *code, uint32_t len)
{
	uint32_t open = 0;
	struct cf_insn insn;

	for (uint32_t pc = 0; pc < len && cf_insn(code, len, pc, &insn); pc += insn.len) {
		if (insn.opcode == OP_NEW)
			open++;
		else if (insn.opcode == OP_INVOKESPECIAL && open == 0)
			return pc + 1;
		else if (insn.opcode == OP_INVOKESPECIAL)
			open--;
	}
	return 0;
}

static uint32_t look_into(const struct ag_profile *profile, jmethodID method)
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
 * Natives that VMObjectAlloc is sent for, and who else may tell of what they make: the constructor,
 * always; or the hook behind a call of the native, or behind one so many frames further out.
 */
static const struct {
	const char *name, *class; /* how the signature of its class ends */
	uint32_t what;
} told[] = {
	{ "newInstance0", "ConstructorAccessorImpl;", TOLD },
	{ "newInstance0", "ConstructorHandleAccessor$NativeAccessor;", TOLD },
	{ "allocateInstance", "Ljava/lang/invoke/DirectMethodHandle;", TELLS },
	{ "clone", "Ljava/lang/Object;", TOLD_BY(1, 1) },
	{ "allocateInstance", "/misc/Unsafe;", TOLD_BY(1, 1) },
	/* behind Array.newInstance, and behind Arrays.copyOf */
	{ "newArray", "Ljava/lang/reflect/Array;", TOLD_BY(2, 3) },
};
#define N_TOLD (sizeof(told) / sizeof(told[0]))

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static uint32_t who_tells(const struct ag_profile *profile, JNIEnv *jni, jmethodID method,
			  const char *name)
{
	jvmtiEnv *ti = profile->ti;
	char *signature = NULL;
	jclass class = NULL;
	uint32_t what = 0;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &class) != JVMTI_ERROR_NONE)
		return 0;
	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) == JVMTI_ERROR_NONE) {
		for (size_t i = 0; i < N_TOLD && what == 0; i++) {
			if (strcmp(name, told[i].name) == 0 && ends_in(signature, told[i].class))
				what = told[i].what;
		}
		(void)(*ti)->Deallocate(ti, (unsigned char *)signature);
	}
	(*jni)->DeleteLocalRef(jni, class);
	return what;
}

static uint32_t ask(const struct ag_profile *profile, JNIEnv *jni, jmethodID method)
{
	char *name = NULL;
	uint32_t what = KNOWN;

	if ((*profile->ti)->GetMethodName(profile->ti, method, &name, NULL, NULL) !=
	    JVMTI_ERROR_NONE)
		return KNOWN;
	if (strcmp(name, "<init>") == 0)
		what |= look_into(profile, method);
	else
		what |= who_tells(profile, jni, method, name);
	(void)(*profile->ti)->Deallocate(profile->ti, (unsigned char *)name);
	return what;
}

/* Kept, as long as there is room nearby. */
static uint32_t what_is(const struct ag_profile *profile, JNIEnv *jni, jmethodID method)
{
	uint64_t id = (uint64_t)(uintptr_t)method;
	uint32_t first = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - AG_METHODS_BITS));
	uint32_t what;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct ag_method_known *at = &profile->exact->methods[(first + i) &
			((1u << AG_METHODS_BITS) - 1)];
		uint64_t was = 0;

		if (!__atomic_compare_exchange_n(&at->method, &was, id, false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED) && was != id)
			continue;
		what = __atomic_load_n(&at->what, __ATOMIC_RELAXED);
		if (what == 0) {
			what = ask(profile, jni, method);
			__atomic_store_n(&at->what, what, __ATOMIC_RELAXED);
		}
		return what;
	}
	return ask(profile, jni, method);
}

/* Asking for a stack */

/*
 * A virtual thread that has no carrier, or not yet, is being mounted or unmounted, by code that
 * runs on its behalf; to ask for its stack would wait until that is done, in JDK 21 for ever
 * (jvmtiThreadState.cpp, JvmtiVTMSTransitionDisabler::VTMS_transition_disable_for_one).
 */
static bool is_moving(const struct ag_profile *profile, JNIEnv *jni, jthread thread)
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

/* Threads name themselves, always: see ag_value_stack() of traces. */
static uint32_t stack_of(const struct ag_profile *profile, JNIEnv *jni, jint from, uint32_t max,
			 jvmtiFrameInfo *frames)
{
	jthread self = NULL;
	jint n = 0;

	if ((*profile->ti)->GetCurrentThread(profile->ti, &self) != JVMTI_ERROR_NONE || !self)
		return 0; /* it is being attached */
	if (is_moving(profile, jni, self) ||
	    (*profile->ti)->GetStackTrace(profile->ti, self, from, (jint)max, frames, &n) !=
	    JVMTI_ERROR_NONE)
		n = 0;
	(*jni)->DeleteLocalRef(jni, self);
	return (uint32_t)n;
}

/* Is the call that goes on in a frame followed by a hook: dup, the place's number? */
static bool is_hooked(const struct ag_profile *profile, const jvmtiFrameInfo *frame)
{
	unsigned char *code = NULL;
	struct cf_insn call, dup, id;
	bool is = false;
	jint len = 0;

	if (frame->location < 0 || (*profile->ti)->GetBytecodes(profile->ti, frame->method, &len,
								&code) != JVMTI_ERROR_NONE)
		return false;
	is = cf_insn(code, (uint32_t)len, (uint32_t)frame->location, &call) &&
		cf_insn(code, (uint32_t)len, call.pc + call.len, &dup) && dup.opcode == OP_DUP &&
		cf_insn(code, (uint32_t)len, dup.pc + dup.len, &id) &&
		id.opcode == OP_SIPUSH;
	(void)(*profile->ti)->Deallocate(profile->ti, code);
	return is;
}

bool ag_exact_is_told(const struct ag_profile *profile, JNIEnv *jni)
{
	jvmtiFrameInfo frames[TOLD_FRAMES];
	uint32_t n = stack_of(profile, jni, 0, TOLD_FRAMES, frames);
	uint32_t what = n > 0 ? what_is(profile, jni, frames[0].method) : 0;

	if (what & CONSTRUCTOR)
		return false;
	for (uint32_t i = TOLD_FROM(what); i != 0 && i <= TOLD_TO(what) && i < n; i++) {
		if (what_is(profile, jni, frames[i].method) & TELLS ||
		    is_hooked(profile, &frames[i]))
			return true;
	}
	return (what & TOLD) != 0;
}

/* Object's constructor, and each one that was about to call this() or super(). */
static uint32_t constructors(const struct ag_profile *profile, JNIEnv *jni,
			     const jvmtiFrameInfo *frames, uint32_t n)
{
	uint32_t i = 0;

	if (n > 0 && what_is(profile, jni, frames[0].method) & CONSTRUCTOR)
		i = 1;
	while (i > 0 && i < n) {
		uint32_t what = what_is(profile, jni, frames[i].method);

		if (!(what & CONSTRUCTOR) || (int64_t)(what & PLACE) != frames[i].location + 1)
			break;
		i++;
	}
	return i;
}

uint32_t ag_exact_stack(const struct ag_profile *profile, JNIEnv *jni, enum ag_made_by by,
			jvmtiFrameInfo *frames)
{
	uint32_t depth = profile->wanted.depth, max = depth, n, skip = 0;

	if (depth > WIRE_ALLOC_DEPTH)
		depth = max = WIRE_ALLOC_DEPTH;
	if (by == AG_MADE_BY_CONSTRUCTOR)
		max += AG_CONSTRUCTORS;
	n = stack_of(profile, jni, by == AG_MADE_BY_VM ? 0 : 1, max, frames);
	if (by == AG_MADE_BY_CONSTRUCTOR)
		skip = constructors(profile, jni, frames, n);
	if (skip > 0)
		memmove(frames, frames + skip, (n - skip) * sizeof(*frames));
	return n - skip < depth ? n - skip : depth;
}
