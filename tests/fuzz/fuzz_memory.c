/*
 * Parses a JVM's answers about its memory, and mappings: untrusted, because any process may pose as
 * a JVM.  The first byte selects the parser.
 */
#include <string.h>

#include "base/xalloc.h"
#include "model/memory/heap_limit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_agent(const char *path)
{
	return strstr(path, "jtool") != NULL;
}

/* Checks that the parts add up, whatever the JVM answers. */
static void check_parts(const struct mappings *maps, const struct jvm_memory *jvm)
{
	struct memory_parts parts;
	int64_t sum = 0;

	memory_parts_of(maps, jvm, is_agent, &parts);
	for (int i = 0; i < N_MEMORY_PARTS; i++) {
		if (parts.part[i].resident < 0 || parts.part[i].anonymous < 0)
			__builtin_trap();
		sum += parts.part[i].resident;
	}
	if (sum != parts.resident)
		__builtin_trap();
	(void)heap_limit_of(&parts, jvm->heap_max, INT64_MAX);
}

static void check_mappings(const char *text, size_t size)
{
	struct mappings maps = { .list = NULL };
	struct jvm_memory jvm;

	jvm_memory_init(&jvm);
	if (mappings_parse(&maps, text, size) == 0) {
		check_parts(&maps, &jvm);
		jvm.heap_max = 1 << 28;
		jvm_memory_heap_info(&jvm, "a [0x00000000f0000000, 0x0000000100000000)");
		check_parts(&maps, &jvm);
	}
	jvm_memory_release(&jvm);
	mappings_release(&maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parsers[])(struct jvm_memory *m, const char *text) = {
		jvm_memory_heap_info, jvm_memory_metaspace, jvm_memory_code_cache,
		jvm_memory_native_heap, jvm_memory_tracking, jvm_memory_flags,
	};
	static const char smaps[] = "f0000000-100080000 rw-p 00000000 00:00 0 \n"
				    "Rss: 3232 kB\nAnonymous: 3232 kB\n";
	_cleanup_free_ char *text = size ? xstrndup((const char *)data + 1, size - 1) : NULL;
	struct mappings maps = { .list = NULL };
	struct jvm_memory jvm;

	if (!text)
		return 0;
	if (data[0] < '0' || (size_t)(data[0] - '0') >= ARRAY_SIZE(parsers)) {
		check_mappings((const char *)data + 1, size - 1);
		return 0;
	}
	jvm_memory_init(&jvm);
	parsers[data[0] - '0'](&jvm, text);
	if (mappings_parse(&maps, smaps, sizeof(smaps) - 1) < 0)
		__builtin_trap();
	check_parts(&maps, &jvm);
	mappings_release(&maps);
	jvm_memory_release(&jvm);
	return 0;
}
