/* What shows a class file, and what compares it with another. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/codediff.h"
#include "model/instrumented.h"
#include "render/javap_code.h"
#include "render/javap_pool.h"

static void show(const struct cf_class *class, const struct captured *memory)
{
	FILE *out = fopen("/dev/null", "w");

	if (!out || javap_code(out, class, memory))
		abort();
	javap_pool(out, &class->pool);
	(void)fclose(out);
	json_free(javap_code_json(class, memory));
	json_free(javap_pool_json(&class->pool));
}

/* With itself: each method is there twice, and need not be code. */
static void compare(const struct cf_class *class, struct captured *memory)
{
	struct codediff diff = { 0 };

	if (codediff_compare(&diff, memory, class) || diff.n > 2u * class->n_methods)
		abort();
	codediff_release(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	const char *words[INSTRUMENTED_MAX];
	struct captured memory = { .outcome = 0 };
	struct cf_class class;

	if (cf_open(&class, data, size, &mem))
		return 0;
	show(&class, NULL);
	buf_add(&memory.file, data, size);
	compare(&class, &memory);
	(void)instrumented_by(&class, &class.pool, words);
	captured_release(&memory);
	cf_release(&class);
	return 0;
}
