/* Parses a JVM's answers on its version, command line and heap. */
#include <stdlib.h>
#include <string.h>

#include "model/vm/dcmd_replies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1), *vm, *release;
	struct dcmd_reply_heap heap;

	if (!text)
		return 0;
	if (len > 0)
		memcpy(text, data, len);
	text[len] = '\0';
	dcmd_reply_version(text, &vm, &release);
	free(vm);
	free(release);
	free(dcmd_reply_line(text, "jvm_args"));
	dcmd_reply_heap(text, &heap);
	if (heap.used < -1 || heap.committed < -1 || heap.max < -1)
		__builtin_trap();
	free(text);
	return 0;
}
