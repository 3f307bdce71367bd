#include "attach/jvm_build.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "attach/target_query.h"
#include "base/xalloc.h"
#include "discover/agents.h"
#include "proc/elf.h"
#include "proc/inroot.h"

struct search {
	const struct target_ns *ns;
	char *root;
	struct buf *answer;
};

/* Returns the length of the build id; 0 if there is none or it is unreadable. */
static size_t read_id(const struct search *s, const struct proc_map *map,
		      uint8_t id[static ELF_BUILD_ID_MAX])
{
	_cleanup_close_ int fd = agents_open_mapped(&s->ns->proc, s->ns->jvm->pid,
						    s->ns->root_fd, s->root, map);
	int len = fd >= 0 ? elf_build_id(fd, id) : 0;

	return len > 0 ? (size_t)len : 0;
}

/*
 * If `map` is of libjvm.so, appends to the answer a byte with the length of the build id, the build
 * id, and the path; and returns false, which ends the search.
 */
static bool visit_map(const struct proc_map *map, void *arg)
{
	const struct search *s = arg;
	const char *name = strrchr(map->path, '/'), *path = inroot_path(map->path, s->root);
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t len;

	if (!name || strcmp(name, "/libjvm.so") != 0)
		return true;
	len = read_id(s, map, id);
	buf_addc(s->answer, (char)len);
	buf_add(s->answer, id, len);
	buf_add(s->answer, path, strnlen(path, PATH_MAX));
	return false;
}

static int read_build(const struct target_ns *ns, const void *arg, struct buf *answer,
		      struct err *err)
{
	_cleanup_free_ char *root = procfs_readlink(&ns->proc, ns->jvm->pid, "root");
	struct search s = { .ns = ns, .root = root, .answer = answer };

	(void)arg;
	(void)err;
	if (procfs_code_maps(&ns->proc, ns->jvm->pid, visit_map, &s) < 0)
		buf_reset(answer);
	return 0;
}

void jvm_build_read(const struct jvm *jvm, struct jvm_build *build)
{
	const struct target_query q = {
		.fn = read_build, .fd = -1, .max = 1 + ELF_BUILD_ID_MAX + PATH_MAX,
	};
	_cleanup_buf_ struct buf answer = BUF_INIT, id = BUF_INIT;
	struct err ignored = { .code = EXIT_DONE };
	size_t len;

	*build = (struct jvm_build){ NULL, NULL };
	if (target_query(jvm, &q, &answer, &ignored) < 0 || answer.len == 0)
		return;
	len = (unsigned char)answer.data[0];
	if (len > answer.len - 1)
		return;
	for (size_t i = 1; i <= len; i++)
		buf_addf(&id, "%02x", (unsigned char)answer.data[i]);
	build->path = xstrndup(answer.data + 1 + len, answer.len - 1 - len);
	if (len > 0)
		build->id = xstrdup(buf_str(&id));
}

void jvm_build_release(struct jvm_build *build)
{
	free(build->path);
	free(build->id);
	*build = (struct jvm_build){ NULL, NULL };
}
