/* Parses the texts in /proc about a process: command line, environment, cgroup, mounts. */
#include "base/xalloc.h"
#include "proc/container.h"
#include "discover/identify.h"
#include "proc/mounts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_mounts(const char *text)
{
	struct mount m;

	if (mount_find(text, "/tmp/.java_pid4711", &m)) {
		(void)mount_may_hang(m.type);
		mount_release(&m);
	}
	(void)mounts_need_no_server(text);
	if (!mounts_have_same_root(text, text))
		(void)mounts_have_same_root(text, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
}

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
	read_mounts(text);
	return 0;
}
