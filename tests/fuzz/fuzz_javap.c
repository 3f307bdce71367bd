/* Prints a class file, and compares it with another one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/class/code_diff.h"
#include "model/class/instrumentation_hints.h"
#include "render/class/javap_code.h"
#include "render/class/javap_pool.h"

static void show(const struct cf_class *class, const struct class_capture *memory)
{
	FILE *out = fopen("/dev/null", "w");
	const char *why;

	if (!out || javap_code(out, class, memory))
		abort();
	javap_pool(out, &class->pool);
	(void)fclose(out);
	json_free(javap_code_json(class, memory, &why));
	if (why)
		abort();
	json_free(javap_pool_json(&class->pool));
}

/* Compares a class file with a capture of the same input.  The code may be invalid. */
static void compare(const struct cf_class *class, struct class_capture *memory)
{
	struct code_diff diff = { 0 };

	if (code_diff_compare(&diff, memory, class) || diff.n > 2u * class->n_methods)
		abort();
	code_diff_release(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	const char *words[INSTRUMENTATION_HINT_MAX];
	struct class_capture memory = { .outcome = 0 };
	struct cf_class class;

	if (cf_open(&class, data, size, &mem))
		return 0;
	show(&class, NULL);
	buf_add(&memory.file, data, size);
	compare(&class, &memory);
	(void)instrumentation_hint(&class, &class.pool, words);
	class_capture_release(&memory);
	cf_release(&class);
	return 0;
}
