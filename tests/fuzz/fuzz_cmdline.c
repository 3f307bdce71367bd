/* Parses the texts in /proc about a process: command line, environment, cgroup. */
#include "base/xalloc.h"
#include "proc/container.h"
#include "discover/identify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, len);
	struct gc_clues clues = { NULL, false };
	struct cmdline cmd;
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	cmdline_parse((const char *)data, len, &cmd);
	(void)identify_thread(&clues, text);
	identify_cmdline(jvm, &cmd, (const char *)data, len, &clues);
	cmdline_release(&cmd);
	jvm_free(jvm);
	free(container_id(text));
	free(identify_release(text));
	return 0;
}
