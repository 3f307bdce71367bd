#include "session/loaded_agents.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "proc/inroot.h"

/* A target has one image for each build of jtool; a target with more images is hostile. */
#define IMAGES_MAX 32

#define STEM "jtool-agent-"
#define SUFFIX ".so"
#define HASH_LEN 16

void loaded_agents_release(struct loaded_agents *images)
{
	for (size_t i = 0; i < images->n; i++)
		free(images->paths[i]);
	free(images->paths);
	*images = (struct loaded_agents){ 0 };
}

static const char *name_of(const char *path)
{
	return strrchr(path, '/') + 1; /* paths in maps are absolute */
}

static bool is_image(const char *name)
{
	size_t stem = strlen(STEM);

	return strncmp(name, STEM, stem) == 0 &&
	       strspn(name + stem, "0123456789abcdef") == HASH_LEN &&
	       strcmp(name + stem + HASH_LEN, SUFFIX) == 0;
}

/* Returns true for the name of musl's loader or libc; the loader may be a link to libc. */
static bool is_musl(const char *name)
{
	return strncmp(name, "ld-musl-", 8) == 0 || strcmp(name, "libc.so") == 0;
}

static bool is_known(const struct loaded_agents *images, const char *path)
{
	for (size_t i = 0; i < images->n; i++) {
		if (strcmp(images->paths[i], path) == 0)
			return true;
	}
	return false;
}

struct search {
	struct loaded_agents *images;
	const char *root; /* path of the target's root; NULL: unreadable */
};

static bool visit(const struct proc_map *map, void *arg)
{
	const struct search *s = arg;
	struct loaded_agents *images = s->images;
	const char *path = inroot_path(map->path, s->root), *name = name_of(path);

	images->musl |= is_musl(name);
	if (!is_image(name) || is_known(images, path) || images->n == IMAGES_MAX)
		return true;
	images->paths = xgrow(images->paths, images->n, &images->cap, sizeof(*images->paths));
	images->paths[images->n++] = xstrdup(path);
	return true;
}

int loaded_agents_find(const struct target_ns *ns, struct loaded_agents *images, struct err *err)
{
	const struct jvm *jvm = ns->jvm;
	_cleanup_free_ char *root = procfs_readlink(&ns->proc, jvm->pid, "root");
	struct loaded_agents found = { 0 };
	struct search s = { &found, root };
	int rc = procfs_code_maps(&ns->proc, jvm->pid, visit, &s);

	if (rc == 0) {
		*images = found;
		return 0;
	}
	loaded_agents_release(&found);
	if (rc == -ESRCH || rc == -ENOENT)
		return jvm_gone(jvm, err);
	if (rc == -EACCES || rc == -EPERM)
		return jvm_denied(jvm, err);
	return err_set(err, EXIT_AGENT, "cannot read the mappings of JVM %d: %s", (int)jvm->pid,
		       strerror(-rc));
}

const char *loaded_agents_named(const struct loaded_agents *images, const char *file_name)
{
	for (size_t i = 0; i < images->n; i++) {
		if (strcmp(name_of(images->paths[i]), file_name) == 0)
			return images->paths[i];
	}
	return NULL;
}
