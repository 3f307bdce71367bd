#include "session/image.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "proc/inroot.h"

/* Each is another build of jtool's; a target that maps more than that is up to something. */
#define IMAGES_MAX 32

#define STEM "jtool-agent-"
#define SUFFIX ".so"
#define HASH_LEN 16

void images_release(struct images *images)
{
	for (size_t i = 0; i < images->n; i++)
		free(images->paths[i]);
	free(images->paths);
	*images = (struct images){ 0 };
}

static const char *name_of(const char *path)
{
	return strrchr(path, '/') + 1; /* paths of maps are absolute */
}

static bool is_image(const char *name)
{
	size_t stem = strlen(STEM);

	return strncmp(name, STEM, stem) == 0 &&
	       strspn(name + stem, "0123456789abcdef") == HASH_LEN &&
	       strcmp(name + stem + HASH_LEN, SUFFIX) == 0;
}

/* The loader itself, or where that is a link to it, musl's libc; glibc's is called libc.so.6. */
static bool is_musl(const char *name)
{
	return strncmp(name, "ld-musl-", 8) == 0 || strcmp(name, "libc.so") == 0;
}

static bool is_known(const struct images *images, const char *path)
{
	for (size_t i = 0; i < images->n; i++) {
		if (strcmp(images->paths[i], path) == 0)
			return true;
	}
	return false;
}

struct search {
	struct images *images;
	const char *root; /* of the target; NULL: unreadable */
};

static bool visit(const struct proc_map *map, void *arg)
{
	const struct search *s = arg;
	struct images *images = s->images;
	const char *path = inroot_path(map->path, s->root), *name = name_of(path);

	images->musl |= is_musl(name);
	if (!is_image(name) || is_known(images, path) || images->n == IMAGES_MAX)
		return true;
	images->paths = xgrow(images->paths, images->n, &images->cap, sizeof(*images->paths));
	images->paths[images->n++] = xstrdup(path);
	return true;
}

int images_find(const struct ns *ns, struct images *images, struct err *err)
{
	const struct jvm *jvm = ns->jvm;
	_cleanup_free_ char *root = procfs_readlink(&ns->proc, jvm->pid, "root");
	struct images found = { 0 };
	struct search s = { &found, root };
	int rc = procfs_code_maps(&ns->proc, jvm->pid, visit, &s);

	if (rc == 0) {
		*images = found;
		return 0;
	}
	images_release(&found);
	if (rc == -ESRCH || rc == -ENOENT)
		return jvm_gone(jvm, err);
	if (rc == -EACCES || rc == -EPERM)
		return jvm_denied(jvm, err);
	return err_set(err, EXIT_AGENT, "what JVM %d has mapped cannot be read: %s", (int)jvm->pid,
		       strerror(-rc));
}

const char *images_named(const struct images *images, const char *file_name)
{
	for (size_t i = 0; i < images->n; i++) {
		if (strcmp(name_of(images->paths[i]), file_name) == 0)
			return images->paths[i];
	}
	return NULL;
}
