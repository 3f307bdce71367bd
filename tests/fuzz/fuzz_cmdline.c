/* Texts of /proc about a process: command line, environment, cgroup. */
#include "base/xalloc.h"
#include "target/container.h"
#include "target/describe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, len);
	struct cmdline cmd;
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	cmdline_parse((const char *)data, len, &cmd);
	describe_cmdline(jvm, &cmd, (const char *)data, len);
	cmdline_release(&cmd);
	jvm_free(jvm);
	free(container_id(text));
	free(describe_release(text));
	return 0;
}
