/* Parses a dump's records and the JVM's answer: untrusted, any process may pose as a JVM. */
#include <stdlib.h>
#include <string.h>

#include "model/hprof/hprof_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const uint8_t *data, size_t size)
{
	struct hprof_walk w = { .size = size };
	int rc;

	do {
		size_t left = size - (size_t)w.at;

		rc = hprof_walk_step(&w, data + w.at, left < HPROF_READ ? left : HPROF_READ);
	} while (rc > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	(void)hprof_features_parse(text);
	if (hprof_answer_parse(text).len > size)
		abort();
	free(text);
	walk(data, size);
	return 0;
}
