/* Parses an HTTP request, and names of the kubelet's links. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proc/pod_names.h"
#include "http/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void parse_link(const uint8_t *data, size_t len)
{
	struct pod_name name;
	char *link = strndup((const char *)data, len);

	if (link && pod_name_parse(link, &name) == 0) {
		if (strlen(name.id) != 64 || strpbrk(name.pod, "\"\\\n_"))
			__builtin_trap();
		pod_name_release(&name);
	}
	free(link);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	struct http_request r, again;
	int rc = http_request_parse(text, len, &r);

	if (rc > 0 && (r.path < text || r.path + r.path_len > text + len || r.path[0] != '/'))
		__builtin_trap();
	/* A request that is complete or malformed stays so, whatever follows. */
	if (rc == 0 && len > 0 && http_request_parse(text, len - 1, &again) != 0)
		__builtin_trap();
	parse_link(data, len);
	return 0;
}
