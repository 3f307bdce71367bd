/* Texts of /proc about a process: command line, environment, cgroup. */
#include "base/xalloc.h"
#include "target/container.h"
#include "target/describe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, len);
	struct gc_clues clues = { NULL, false };
	struct cmdline cmd;
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	cmdline_parse((const char *)data, len, &cmd);
	(void)describe_thread(&clues, text);
	describe_cmdline(jvm, &cmd, (const char *)data, len, &clues);
	cmdline_release(&cmd);
	jvm_free(jvm);
	free(container_id(text));
	free(describe_release(text));
	return 0;
}
