#include "jvm/patch_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define BUDGET ((size_t)256 << 20)
#define CAPACITY 64 /* more references than a callback has anyway */

static struct ag_patches *the_patches;

static void discard(struct ag_patches *p)
{
	if (p->operation)
		(void)(*p->ti)->DestroyRawMonitor(p->ti, p->operation); /* nobody knew it */
	if (p->table)
		(void)(*p->ti)->DestroyRawMonitor(p->ti, p->table);
	if (p->ti)
		(void)(*p->ti)->DisposeEnvironment(p->ti);
	free(p);
}

static struct ag_patches *make_patches(struct ag_jvm *jvm)
{
	const jvmtiCapabilities tagging = { .can_tag_objects = 1 };
	struct ag_patches *p = calloc(1, sizeof(*p)); /* no session's: not to be counted as one's */
	JavaVM *vm = jvm->vm;

	if (!p) {
		(void)ag_fail_memory(jvm);
		return NULL;
	}
	p->vm = vm;
	p->mem.budget = BUDGET;
	if ((*vm)->GetEnv(vm, (void **)&p->ti, JVMTI_VERSION_1_1) != JNI_OK) {
		p->ti = NULL;
		(void)ag_fail(jvm, "GetEnv", "no JVMTI environment");
		discard(p);
		return NULL;
	}
	if (ag_ti_check(jvm, "AddCapabilities",
			(*p->ti)->AddCapabilities(p->ti, &tagging)) != 0 ||
	    ag_ti_check(jvm, "CreateRawMonitor",
			(*p->ti)->CreateRawMonitor(p->ti, "jtool operation", &p->operation)) != 0 ||
	    ag_ti_check(jvm, "CreateRawMonitor",
			(*p->ti)->CreateRawMonitor(p->ti, "jtool table", &p->table)) != 0) {
		discard(p);
		return NULL;
	}
	return p;
}

struct ag_patches *ag_patches(void)
{
	return __atomic_load_n(&the_patches, __ATOMIC_ACQUIRE);
}

struct ag_patches *ag_patches_make(struct ag_jvm *jvm)
{
	struct ag_patches *there = ag_patches(), *made;

	if (there)
		return there;
	made = make_patches(jvm);
	if (!made)
		return NULL;
	if (__atomic_compare_exchange_n(&the_patches, &there, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	discard(made); /* another session was faster */
	return there;
}

/* Fails only where the JVM is leaving: then no thread is left that could be hurt. */
void ag_patches_lock(struct ag_patches *p, jrawMonitorID monitor)
{
	(void)(*p->ti)->RawMonitorEnter(p->ti, monitor);
}

void ag_patches_unlock(struct ag_patches *p, jrawMonitorID monitor)
{
	(void)(*p->ti)->RawMonitorExit(p->ti, monitor);
}

int ag_patch_tag(struct ag_jvm *jvm, struct ag_patches *p, jclass class, jlong *tag)
{
	if (ag_ti_check(jvm, "GetTag", (*p->ti)->GetTag(p->ti, class, tag)) != 0)
		return -1;
	if (*tag)
		return 0;
	*tag = ++p->last_tag;
	return ag_ti_check(jvm, "SetTag", (*p->ti)->SetTag(p->ti, class, *tag));
}

struct ag_patch *ag_patch_find(const struct ag_patches *p, jlong tag)
{
	struct ag_patch *patch = p->list;

	while (patch && patch->tag != tag)
		patch = patch->next;
	return patch;
}

void ag_answer_free(struct ag_patches *p, const struct ag_patch *patch, struct ag_answer *answer)
{
	if (answer->bytes != patch->file)
		ag_free(&p->mem, answer->bytes);
	*answer = (struct ag_answer){ 0 };
}

void ag_patch_free(struct ag_patches *p, JNIEnv *jni, struct ag_patch *patch)
{
	if (!patch)
		return;
	ag_answer_free(p, patch, &patch->answer);
	ag_answer_free(p, patch, &patch->pending);
	if (patch->class && patch->tag && !ag_patch_find(p, patch->tag))
		(void)(*p->ti)->SetTag(p->ti, patch->class, 0); /* it may be unloaded */
	if (patch->class)
		(*jni)->DeleteWeakGlobalRef(jni, patch->class);
	ag_free(&p->mem, patch->file);
	ag_free(&p->mem, patch->label);
	ag_free(&p->mem, patch->digest);
	ag_free(&p->mem, patch);
}

/* One call of the hook. */
struct call {
	JNIEnv *jni;
	jlong tag; /* of the class */
	uint64_t name;
	const uint8_t *bytes; /* what comes in */
	size_t len;
	bool answers;
	uint8_t *answer; /* a copy, to be freed; NULL: there was no memory */
	size_t answer_len;
	jthrowable thrown;
	bool settle;
};

/* The bytes may be gone when `table` is left, and the JVM's memory is to be had only then. */
static void answer(struct call *call, const uint8_t *bytes, size_t len)
{
	call->answers = true;
	call->answer = calloc(1, len); /* on any thread: not to be counted as a session's */
	call->answer_len = len;
	if (call->answer)
		memcpy(call->answer, bytes, len);
}

/* What comes in is the answer: mostly the file itself, which is not kept twice. */
static bool keep_answer(struct ag_patches *p, struct ag_patch *patch, const struct call *call)
{
	struct ag_answer *a = &patch->pending;

	if (call->len == patch->len && memcmp(call->bytes, patch->file, patch->len) == 0) {
		a->bytes = patch->file;
	} else {
		a->bytes = ag_alloc(&p->mem, call->len, 1);
		if (!a->bytes)
			return false;
		memcpy(a->bytes, call->bytes, call->len);
	}
	a->len = call->len;
	return true;
}

/* The answer has to be made anew, by a thread that nobody has started yet. */
static void mark_stale(struct ag_patches *p, struct ag_patch *patch, struct call *call)
{
	patch->stale = true;
	p->marks++;
	call->settle = !p->settling;
	p->settling = true;
}

static bool is_for(const struct ag_patch *patch, const struct call *call)
{
	return patch->tag == call->tag && patch->name == call->name;
}

/* This thread's operation is about this patch's class.  False: not now. */
static bool take_part(struct ag_patches *p, struct ag_patch *patch, struct call *call)
{
	struct ag_operation *o = p->current;
	bool asked = o->mode == AG_PATCH_ASK_TO || o->mode == AG_PATCH_ASK_ANSWER;
	uint64_t hash = ag_hash(call->bytes, call->len);

	if (asked && patch != o->current)
		return false;
	o->hits++;
	switch (o->mode) {
	case AG_PATCH_ASK_TO:
		patch->pending.to = hash;
		break;
	case AG_PATCH_ASK_ANSWER:
		o->no_memory |= !keep_answer(p, patch, call);
		break;
	case AG_PATCH_INSTALL:
		if (hash != patch->pending.to && !o->renews)
			mark_stale(p, patch, call);
		answer(call, patch->pending.bytes, patch->pending.len);
		break;
	case AG_PATCH_RESTORE:
		answer(call, call->bytes, call->len);
		break;
	}
	if (o->no_memory)
		call->thrown = o->thrown;
	return true;
}

static struct ag_patch *find_in_operation(const struct ag_patches *p, const struct call *call)
{
	const struct ag_operation *o = p->current;

	for (uint32_t i = 0; o && i < o->n; i++) {
		if (is_for(o->patches[i], call))
			return o->patches[i];
	}
	return NULL;
}

/*
 * Somebody else retransforms the class.  An answer that is out of date is given all the same:
 * the class must have its patch at every moment.
 */
static void stand_by(struct ag_patches *p, struct call *call)
{
	struct ag_patch *patch = ag_patch_find(p, call->tag);

	if (!patch || !is_for(patch, call))
		return;
	answer(call, patch->answer.bytes, patch->answer.len);
	if (ag_hash(call->bytes, call->len) != patch->answer.to)
		mark_stale(p, patch, call);
}

static bool is_own(const struct ag_patches *p, const struct call *call)
{
	return p->current && p->current->jni == call->jni;
}

static void consult(struct ag_patches *p, struct call *call)
{
	struct ag_patch *patch = find_in_operation(p, call);

	if (patch && is_own(p, call) && take_part(p, patch, call))
		return;
	if (patch)
		patch->touched = true;
	stand_by(p, call);
}

/* There is an answer, and no memory for it. */
static void regret(struct ag_patches *p, struct call *call)
{
	struct ag_patch *patch = ag_patch_find(p, call->tag);

	if (!is_own(p, call)) {
		if (patch)
			mark_stale(p, patch, call);
	} else if (p->current->mode == AG_PATCH_INSTALL) {
		p->current->no_memory = true;
		call->thrown = p->current->thrown;
	} /* else none has the same effect */
}

/* False: no memory. */
static bool hand_over(const struct ag_patches *p, const struct call *call, jint *new_len,
		      unsigned char **new_bytes)
{
	unsigned char *bytes = NULL;

	if (!call->answer ||
	    (*p->ti)->Allocate(p->ti, (jlong)call->answer_len, &bytes) != JVMTI_ERROR_NONE)
		return false;
	memcpy(bytes, call->answer, call->answer_len);
	*new_bytes = bytes;
	*new_len = (jint)call->answer_len;
	return true;
}

/*
 * Is it the class itself?  While a class is being redefined, the JVM may load another one on
 * the same thread, and tells that one's name, loader and bytes (see capture.c).
 */
static bool is_of_loader(const struct ag_patches *p, JNIEnv *jni, jclass class, jobject loader)
{
	jobject its;
	bool same;

	if ((*p->ti)->GetClassLoader(p->ti, class, &its) != JVMTI_ERROR_NONE)
		return true; /* it is never another one of the same name */
	same = (*jni)->IsSameObject(jni, its, loader);
	if (its)
		(*jni)->DeleteLocalRef(jni, its);
	return same;
}

/* Under `table`, for a moment. */
static void under_lock(struct ag_patches *p, struct call *call,
		       void (*work)(struct ag_patches *p, struct call *call))
{
	ag_patches_lock(p, p->table);
	work(p, call);
	ag_patches_unlock(p, p->table);
}

/*
 * On every thread, for every class that is loaded or redefined; most have no tag, and that is
 * all.  With an exception pending the operation is abandoned anyhow (a capture of another
 * jtool's), and JNI must not be called.
 */
static void JNICALL hook(jvmtiEnv *ti, JNIEnv *jni, jclass class, jobject loader,
			 const char *name, jobject domain, jint len, const unsigned char *bytes,
			 jint *new_len, unsigned char **new_bytes)
{
	struct ag_patches *p = ag_patches();
	struct call call = { .jni = jni, .bytes = bytes, .len = (size_t)len };

	(void)ti, (void)domain;
	if (!class || !name || len <= 0)
		return;
	if ((*p->ti)->GetTag(p->ti, class, &call.tag) != JVMTI_ERROR_NONE || call.tag == 0)
		return;
	/* As in capture.c, before any other: -Xcheck:jni counts the references of all frames. */
	if ((*jni)->EnsureLocalCapacity(jni, CAPACITY) != JNI_OK)
		(*jni)->ExceptionClear(jni);
	if ((*jni)->ExceptionCheck(jni) || !is_of_loader(p, jni, class, loader))
		return;
	call.name = ag_hash(name, strlen(name));
	under_lock(p, &call, consult);
	if (call.answers && !hand_over(p, &call, new_len, new_bytes))
		under_lock(p, &call, regret);
	free(call.answer);
	if (call.settle)
		ag_patches_settle(p, jni);
	if (call.thrown)
		(void)(*jni)->Throw(jni, call.thrown);
}

int ag_patches_listen(struct ag_jvm *jvm, struct ag_patches *p)
{
	const jvmtiCapabilities capabilities = {
		.can_retransform_classes = 1,
		.can_retransform_any_class = 1,
	};
	const jvmtiEventCallbacks callbacks = { .ClassFileLoadHook = hook };
	jvmtiEnv *ti = NULL;

	if (p->hook)
		return 0;
	if ((*p->vm)->GetEnv(p->vm, (void **)&ti, JVMTI_VERSION_1_1) != JNI_OK)
		return ag_fail(jvm, "GetEnv", "no JVMTI environment");
	if (ag_ti_check(jvm, "AddCapabilities", (*ti)->AddCapabilities(ti, &capabilities)) != 0 ||
	    ag_ti_listen(jvm, ti, &callbacks, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK) != 0) {
		(void)(*ti)->DisposeEnvironment(ti); /* the JVM may be leaving */
		return -1;
	}
	p->hook = ti;
	return 0;
}

void ag_patches_deafen(struct ag_patches *p)
{
	if (p->hook)
		(void)(*p->hook)->DisposeEnvironment(p->hook); /* the JVM may be leaving */
	p->hook = NULL;
}
