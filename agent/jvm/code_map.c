#include "jvm/code_map.h"

#include <string.h>

#define BLOCK (64u * 1024) /* bytes of a block's data */
#define NAME_MAX 1000u     /* limit in bytes for the name of a stub */

struct ag_code_block {
	struct ag_code_block *next;
	size_t used;
	uint64_t data[BLOCK / sizeof(uint64_t)]; /* structs ag_code, each at a multiple of 8 */
};

/* Returns the bytes that a struct ag_code with a name of this length takes in a block. */
static size_t room_for(uint32_t name_len)
{
	return (sizeof(struct ag_code) + name_len + 7) & ~(size_t)7;
}

static struct ag_code *take_room(struct ag_code_map *map, size_t size)
{
	struct ag_code_block *block = map->last;
	struct ag_code *code;

	if (!block || sizeof(block->data) - block->used < size) {
		block = ag_alloc(map->mem, 1, sizeof(*block));
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

/* Adds a piece of code.  Returns NULL if there is no memory. */
static struct ag_code *add(struct ag_code_map *map, const void *address, jint size,
			   const char *name)
{
	uint32_t len = (uint32_t)strnlen(name, NAME_MAX);
	struct ag_code *code = take_room(map, room_for(len));

	if (!code) {
		map->no_memory = true;
		return NULL;
	}
	code->address = (uintptr_t)address;
	code->size = size > 0 ? (uint32_t)size : 0;
	code->name_len = len;
	memcpy(code->name, name, len);
	return code;
}

/*
 * Returns the map that the current thread reads.  Returns NULL on other threads: while the events
 * are enabled, HotSpot also reports new code, on the threads that compile or generate it and on its
 * service thread.  These threads have no value in the thread-local storage of this environment, so
 * they never use a released map; HotSpot frees an environment only when no thread is in a callback
 * (JvmtiEnvBase::periodic_clean_up).
 */
static struct ag_code_map *map_of_thread(jvmtiEnv *ti)
{
	void *storage = NULL;

	if ((*ti)->GetThreadLocalStorage(ti, NULL, &storage) != JVMTI_ERROR_NONE)
		return NULL;
	return storage;
}

static void JNICALL on_method(jvmtiEnv *ti, jmethodID method, jint size, const void *address,
			      jint n_locations, const jvmtiAddrLocationMap *locations,
			      const void *info)
{
	struct ag_code_map *map = map_of_thread(ti);
	struct ag_code *code = map && method ? add(map, address, size, "") : NULL;

	(void)locations, (void)info;
	if (!code)
		return;
	code->method = method;
	code->is_native = n_locations == 0;
}

static void JNICALL on_generated(jvmtiEnv *ti, const char *name, const void *address, jint size)
{
	struct ag_code_map *map = map_of_thread(ti);

	if (map)
		(void)add(map, address, size, name ? name : ""); /* no memory: noted in the map */
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
	return map->no_memory ? ag_fail_memory(jvm) : 0;
}

int ag_code_map_read(struct ag_jvm *jvm, struct ag_code_map *map)
{
	jvmtiEnv *ti;
	int rc;

	*map = (struct ag_code_map){ .mem = jvm->mem };
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
		ag_free(map->mem, block);
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
	cursor->at += room_for(code->name_len);
	return code;
}
