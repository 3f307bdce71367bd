#include "jvm/code_map.h"
#include "jvm/jni_refs.h"

#include <string.h>

#define BLOCK (64u * 1024) /* bytes of a block's data */
#define TEXT_MAX 8192u     /* limit in bytes for one text; a longer text is cut */

struct ag_code_block {
	struct ag_code_block *next;
	size_t used;
	uint64_t data[BLOCK / sizeof(uint64_t)]; /* structs ag_code, each at a multiple of 8 */
};

/* Texts of a piece of code; a text may be NULL. */
struct texts {
	const char *class, *name, *descriptor;
};

/* Returns the bytes that a struct ag_code with texts of this length takes in a block. */
static size_t room_for(size_t len)
{
	return (sizeof(struct ag_code) + len + 7) & ~(size_t)7;
}

static size_t texts_len(const struct ag_code *code)
{
	return (size_t)code->class_len + code->name_len + code->descriptor_len;
}

static struct ag_code *take_room(struct ag_code_map *map, size_t size)
{
	struct ag_code_block *block = map->last;
	struct ag_code *code;

	if (!block || sizeof(block->data) - block->used < size) {
		block = ag_alloc(map->jvm->mem, 1, sizeof(*block));
		if (!block)
			return NULL;
		if (map->last)
			map->last->next = block;
		else
			map->first = block;
		map->last = block;
	}
	code = (void *)((char *)block->data + block->used);
	block->used += size;
	return code;
}

static uint32_t text_len(const char *text)
{
	return text ? (uint32_t)strnlen(text, TEXT_MAX) : 0;
}

static char *put_text(char *at, const char *text, uint32_t len)
{
	if (len > 0)
		memcpy(at, text, len);
	return at + len;
}

/* Adds a piece of code.  If there is no memory, notes that in the map. */
static void add(struct ag_code_map *map, const void *address, jint size, const struct texts *texts)
{
	const uint32_t class_len = text_len(texts->class), name_len = text_len(texts->name),
		       descriptor_len = text_len(texts->descriptor);
	struct ag_code *code =
		take_room(map, room_for((size_t)class_len + name_len + descriptor_len));
	char *at;

	if (!code) {
		map->failed = true;
		(void)ag_fail_memory(map->jvm);
		return;
	}
	code->address = (uintptr_t)address;
	code->size = size > 0 ? (uint32_t)size : 0;
	code->class_len = class_len;
	code->name_len = name_len;
	code->descriptor_len = descriptor_len;
	at = put_text(code->texts, texts->class, class_len);
	at = put_text(at, texts->name, name_len);
	(void)put_text(at, texts->descriptor, descriptor_len);
}

/*
 * Returns the map that the current thread is building.  Returns NULL on other threads: while the
 * events are enabled, HotSpot also reports new code, on the threads that compile or generate it and
 * on its service thread.  These threads have no value in the thread-local storage of this
 * environment, so they never use a released map.  `ti` is valid on all threads: HotSpot frees an
 * environment only when no thread is in a callback (JvmtiEnvBase::periodic_clean_up).
 */
static struct ag_code_map *map_of_thread(jvmtiEnv *ti)
{
	void *storage = NULL;

	if ((*ti)->GetThreadLocalStorage(ti, NULL, &storage) != JVMTI_ERROR_NONE)
		return NULL;
	return storage;
}

/* The names of a method: JVMTI memory. */
struct names {
	char *class, *method, *descriptor;
};

static jvmtiError find_names(struct ag_jvm *jvm, jvmtiEnv *ti, jmethodID method,
			     struct names *names)
{
	jclass class = NULL;
	jvmtiError code;

	code = (*ti)->GetMethodName(ti, method, &names->method, &names->descriptor, NULL);
	if (code == JVMTI_ERROR_NONE)
		code = (*ti)->GetMethodDeclaringClass(ti, method, &class);
	if (code == JVMTI_ERROR_NONE)
		code = (*ti)->GetClassSignature(ti, class, &names->class, NULL);
	ag_ref_drop(jvm, class);
	return code;
}

/*
 * Adds a compiled method.  Code without locations is not compiled from bytecode.  In the class
 * MethodHandle, such code is an intrinsic of a signature-polymorphic method: invokeBasic(),
 * linkToStatic() and others.  The names that JVMTI returns for it are wrong, and are not added:
 * HotSpot gives all intrinsics of a method the jmethodID of the first, because they share an idnum
 * (ConstMethod).
 */
static void add_method(struct ag_code_map *map, const void *address, jint size,
		       jint n_locations, const struct names *names)
{
	static const struct texts intrinsic = { .name = "method handle intrinsic" };
	const struct texts texts = { names->class, names->method, names->descriptor };
	const bool is_intrinsic =
		n_locations == 0 && strcmp(names->class, "Ljava/lang/invoke/MethodHandle;") == 0;

	add(map, address, size, is_intrinsic ? &intrinsic : &texts);
}

static void JNICALL on_method(jvmtiEnv *ti, jmethodID method, jint size, const void *address,
			      jint n_locations, const jvmtiAddrLocationMap *locations,
			      const void *info)
{
	struct ag_code_map *map = map_of_thread(ti);
	struct names names = { NULL, NULL, NULL };
	jvmtiError code;

	(void)locations, (void)info;
	if (!map || map->failed || !method)
		return;
	code = find_names(map->jvm, ti, method, &names);
	if (code == JVMTI_ERROR_INVALID_METHODID)
		map->n_unloaded++;
	else if (ag_jvmti_check(map->jvm, "look up the names of a method", code) != 0)
		map->failed = true;
	else
		add_method(map, address, size, n_locations, &names);
	ag_jvmti_free(map->jvm, names.class);
	ag_jvmti_free(map->jvm, names.method);
	ag_jvmti_free(map->jvm, names.descriptor);
}

static void JNICALL on_generated(jvmtiEnv *ti, const char *name, const void *address, jint size)
{
	struct ag_code_map *map = map_of_thread(ti);

	if (map && !map->failed)
		add(map, address, size, &(struct texts){ .name = name });
}

/* Enables an event, replays it, and disables it. */
static int replay(struct ag_jvm *jvm, jvmtiEnv *ti, const jvmtiEventCallbacks *callbacks,
		  jvmtiEvent event)
{
	if (ag_jvmti_listen(jvm, ti, callbacks, event) != 0)
		return -1;
	if (ag_jvmti_check(jvm, "GenerateEvents", (*ti)->GenerateEvents(ti, event)) != 0)
		return -1;
	return ag_jvmti_check(jvm, "SetEventNotificationMode",
			      (*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, event, NULL));
}

static int replay_all(struct ag_jvm *jvm, jvmtiEnv *ti, struct ag_code_map *map)
{
	const jvmtiCapabilities needed = { .can_generate_compiled_method_load_events = 1 };
	const jvmtiEventCallbacks callbacks = {
		.CompiledMethodLoad = on_method, .DynamicCodeGenerated = on_generated,
	};

	if (ag_jvmti_check(jvm, "AddCapabilities", (*ti)->AddCapabilities(ti, &needed)) != 0 ||
	    ag_jvmti_check(jvm, "SetThreadLocalStorage",
			   (*ti)->SetThreadLocalStorage(ti, NULL, map)) != 0 ||
	    replay(jvm, ti, &callbacks, JVMTI_EVENT_DYNAMIC_CODE_GENERATED) != 0 ||
	    replay(jvm, ti, &callbacks, JVMTI_EVENT_COMPILED_METHOD_LOAD) != 0)
		return -1;
	return map->failed ? -1 : 0;
}

int ag_code_map_read(struct ag_jvm *jvm, struct ag_code_map *map)
{
	jvmtiEnv *ti;
	int rc;

	*map = (struct ag_code_map){ .jvm = jvm };
	if ((*jvm->vm)->GetEnv(jvm->vm, (void **)&ti, JVMTI_VERSION_1_1) != JNI_OK)
		return ag_fail(jvm, "GetEnv", "no JVMTI environment");
	rc = replay_all(jvm, ti, map);
	(void)(*ti)->DisposeEnvironment(ti); /* fails only at JVM exit */
	return rc;
}

void ag_code_map_release(struct ag_code_map *map)
{
	struct ag_code_block *next;

	for (struct ag_code_block *block = map->first; block; block = next) {
		next = block->next;
		ag_free(map->jvm->mem, block);
	}
	*map = (struct ag_code_map){ 0 };
}

const struct ag_code *ag_code_map_next(struct ag_code_cursor *cursor)
{
	const struct ag_code *code;

	while (cursor->block && cursor->at == cursor->block->used)
		*cursor = (struct ag_code_cursor){ .block = cursor->block->next };
	if (!cursor->block)
		return NULL;
	code = (const void *)((const char *)cursor->block->data + cursor->at);
	cursor->at += room_for(texts_len(code));
	return code;
}
