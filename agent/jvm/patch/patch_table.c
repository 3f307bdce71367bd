#include "jvm/patch/patch_table.h"

#include <stdlib.h>
#include <string.h>

#include "jvm/classes.h"
#include "jvm/jni_refs.h"
#include "util/hash.h"

#define BUDGET ((size_t)256 << 20)

static struct ag_patches *the_patches;

static void discard(struct ag_patches *p)
{
	if (p->operation)
		(void)(*p->ti)->DestroyRawMonitor(p->ti, p->operation); /* cannot fail: unowned */
	if (p->table)
		(void)(*p->ti)->DestroyRawMonitor(p->ti, p->table);
	(void)(*p->ti)->DisposeEnvironment(p->ti);
	free(p);
}

static struct ag_patches *make_patches(struct ag_jvm *jvm)
{
	const jvmtiCapabilities tagging = { .can_tag_objects = 1 };
	struct ag_patches *p = calloc(1, sizeof(*p)); /* outlives the session */
	JavaVM *vm = jvm->vm;

	if (!p) {
		(void)ag_fail_memory(jvm);
		return NULL;
	}
	p->vm = vm;
	p->mem.budget = BUDGET;
	if ((*vm)->GetEnv(vm, (void **)&p->ti, JVMTI_VERSION_1_1) != JNI_OK) {
		(void)ag_fail(jvm, "GetEnv", "no JVMTI environment");
		free(p);
		return NULL;
	}
	if (ag_jvmti_check(jvm, "AddCapabilities", (*p->ti)->AddCapabilities(p->ti, &tagging)) !=
		    0 ||
	    ag_jvmti_check(jvm, "CreateRawMonitor",
			   (*p->ti)->CreateRawMonitor(p->ti, "jtool operation", &p->operation)) !=
		    0 ||
	    ag_jvmti_check(jvm, "CreateRawMonitor",
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
	discard(made); /* another session created the struct first */
	return there;
}

/* RawMonitorEnter and RawMonitorExit fail only at JVM exit, when no thread uses the table. */
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
	if (ag_jvmti_check(jvm, "GetTag", (*p->ti)->GetTag(p->ti, class, tag)) != 0)
		return -1;
	if (*tag)
		return 0;
	*tag = ++p->last_tag;
	return ag_jvmti_check(jvm, "SetTag", (*p->ti)->SetTag(p->ti, class, *tag));
}

struct ag_patch *ag_patch_find(const struct ag_patches *p, jlong tag)
{
	struct ag_patch *patch = p->list;

	while (patch && patch->tag != tag)
		patch = patch->next;
	return patch;
}

void ag_patch_output_free(struct ag_patches *p, const struct ag_patch *patch,
			  struct ag_patch_output *output)
{
	if (output->bytes != patch->file)
		ag_free(&p->mem, output->bytes);
	*output = (struct ag_patch_output){ 0 };
}

void ag_patch_free(struct ag_patches *p, JNIEnv *jni, struct ag_patch *patch)
{
	if (!patch)
		return;
	ag_patch_output_free(p, patch, &patch->output);
	ag_patch_output_free(p, patch, &patch->pending);
	if (patch->class && patch->tag && !ag_patch_find(p, patch->tag))
		(void)(*p->ti)->SetTag(p->ti, patch->class, 0); /* fails for an unloaded class */
	ag_ref_weak_drop(jni, patch->class, &p->globals);
	ag_free(&p->mem, patch->file);
	ag_free(&p->mem, patch->label);
	ag_free(&p->mem, patch->digest);
	ag_free(&p->mem, patch);
}

/* One call of the hook. */
struct call {
	JNIEnv *jni;
	jlong tag; /* tag of the class */
	uint64_t name;        /* hash of the name of the class */
	const uint8_t *bytes; /* the incoming class file */
	size_t len;
	bool has_output;
	uint8_t *output; /* copy of the output, freed by hook(); NULL: no memory */
	size_t output_len;
	jthrowable thrown; /* the exception that hook() throws; NULL: none */
	bool refresh;      /* hook() starts a refresh thread */
};

/*
 * Copies `bytes` to call->output for return_output().  A copy is needed because another thread may
 * free the patch as soon as `table` is released.
 */
static void set_output(struct call *call, const uint8_t *bytes, size_t len)
{
	call->has_output = true;
	call->output = calloc(1, len); /* not from a session's memory: any thread may run this */
	call->output_len = len;
	if (call->output)
		memcpy(call->output, bytes, len);
}

/*
 * Stores the incoming bytes in patch->pending.  If they equal patch->file, stores patch->file
 * instead of a copy.  Returns false if memory is short.
 */
static bool store_output(struct ag_patches *p, struct ag_patch *patch, const struct call *call)
{
	struct ag_patch_output *pending = &patch->pending;

	if (call->len == patch->len && memcmp(call->bytes, patch->file, patch->len) == 0) {
		pending->bytes = patch->file;
	} else {
		pending->bytes = ag_alloc(&p->mem, call->len, 1);
		if (!pending->bytes)
			return false;
		memcpy(pending->bytes, call->bytes, call->len);
	}
	pending->len = call->len;
	return true;
}

/* Marks a patch as stale.  Sets call->refresh, unless a refresh thread is waiting already. */
static void mark_stale(struct ag_patches *p, struct ag_patch *patch, struct call *call)
{
	patch->stale = true;
	p->stale_events++;
	call->refresh = !p->refreshing;
	p->refreshing = true;
}

static bool is_for(const struct ag_patch *patch, const struct call *call)
{
	return patch->tag == call->tag && patch->name == call->name;
}

/*
 * Handles a call of the hook on the thread of the current operation.  Returns false if the
 * operation is capturing another class.
 */
static bool serve_operation(struct ag_patches *p, struct ag_patch *patch, struct call *call)
{
	struct ag_operation *o = p->current;
	bool reads = o->mode == AG_PATCH_READ_INPUT || o->mode == AG_PATCH_READ_OUTPUT;
	uint64_t hash = ag_hash(call->bytes, call->len);

	if (reads && patch != o->current)
		return false;
	o->hits++;
	switch (o->mode) {
	case AG_PATCH_READ_INPUT:
		patch->pending.input = hash;
		break;
	case AG_PATCH_READ_OUTPUT:
		o->no_memory |= !store_output(p, patch, call);
		break;
	case AG_PATCH_INSTALL:
		if (hash != patch->pending.input && !o->refreshes)
			mark_stale(p, patch, call);
		set_output(call, patch->pending.bytes, patch->pending.len);
		break;
	case AG_PATCH_RESTORE:
		set_output(call, call->bytes, call->len);
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
 * Handles a retransformation that is not part of an operation.  Sets the output of the class's
 * patch even if the patch is stale, so that the patch remains in effect.
 */
static void serve_other(struct ag_patches *p, struct call *call)
{
	struct ag_patch *patch = ag_patch_find(p, call->tag);

	if (!patch || !is_for(patch, call))
		return;
	set_output(call, patch->output.bytes, patch->output.len);
	if (ag_hash(call->bytes, call->len) != patch->output.input)
		mark_stale(p, patch, call);
}

static bool is_own(const struct ag_patches *p, const struct call *call)
{
	return p->current && p->current->jni == call->jni;
}

static void choose_output(struct ag_patches *p, struct call *call)
{
	struct ag_patch *patch = find_in_operation(p, call);

	if (patch && is_own(p, call) && serve_operation(p, patch, call))
		return;
	if (patch)
		patch->touched = true;
	serve_other(p, call);
}

/* Handles the failure of return_output(), which lacked memory. */
static void output_failed(struct ag_patches *p, struct call *call)
{
	struct ag_patch *patch = ag_patch_find(p, call->tag);

	if (!is_own(p, call)) {
		if (patch)
			mark_stale(p, patch, call);
	} else if (p->current->mode == AG_PATCH_INSTALL) {
		p->current->no_memory = true;
		call->thrown = p->current->thrown;
	} /* when restoring, there is nothing to do, because the incoming bytes take effect */
}

/* Copies call->output to JVMTI memory.  Returns false if there is no memory. */
static bool return_output(const struct ag_patches *p, const struct call *call, jint *new_len,
			  unsigned char **new_bytes)
{
	unsigned char *bytes = NULL;

	if (!call->output ||
	    (*p->ti)->Allocate(p->ti, (jlong)call->output_len, &bytes) != JVMTI_ERROR_NONE)
		return false;
	memcpy(bytes, call->output, call->output_len);
	*new_bytes = bytes;
	*new_len = (jint)call->output_len;
	return true;
}

static void under_lock(struct ag_patches *p, struct call *call,
		       void (*work)(struct ag_patches *p, struct call *call))
{
	ag_patches_lock(p, p->table);
	work(p, call);
	ag_patches_unlock(p, p->table);
}

/*
 * The ClassFileLoadHook, which returns the output of a patch.  Runs on every thread for every
 * class.  If GetTag finds that the class has no tag, the hook does nothing else.
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
	/*
	 * If HotSpot loads a new class while it redefines `class`, it may call the hook with
	 * `class`, but with the name and bytes of the new class (classes.h).  Ignore such a call.
	 * If GetClassLoader fails, go on: is_for() compares the names.
	 */
	if (!ag_class_is_hooked(p->ti, jni, class, loader, true))
		return;
	call.name = ag_hash(name, strlen(name));
	under_lock(p, &call, choose_output);
	if (call.has_output && !return_output(p, &call, new_len, new_bytes))
		under_lock(p, &call, output_failed);
	free(call.output);
	if (call.refresh)
		ag_patches_refresh(p, jni);
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
	if (ag_jvmti_check(jvm, "AddCapabilities", (*ti)->AddCapabilities(ti, &capabilities)) !=
		    0 ||
	    ag_jvmti_listen(jvm, ti, &callbacks, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK) != 0) {
		(void)(*ti)->DisposeEnvironment(ti); /* fails only at JVM exit */
		return -1;
	}
	p->hook = ti;
	return 0;
}

void ag_patches_disable_events(struct ag_patches *p)
{
	if (p->hook)
		(void)(*p->hook)->DisposeEnvironment(p->hook); /* fails only at JVM exit */
	p->hook = NULL;
}
