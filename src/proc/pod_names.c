#include "proc/pod_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "fileio/file_open.h"

#define ID_LEN 64
#define NAMES_MAX 10000 /* a node has at most a few hundred pods */

/* Returns true if Kubernetes permits each character of the text in names, such as a pod's name. */
static bool is_name(const char *text, size_t len)
{
	return len > 0 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-") >= len;
}

int pod_name_parse(const char *link, struct pod_name *name)
{
	const char *namespace = strchr(link, '_');
	const char *container = namespace ? strchr(namespace + 1, '_') : NULL;
	const char *id = container ? strrchr(container, '-') : NULL;
	size_t lens[3];

	*name = (struct pod_name){ 0 };
	if (!id || strspn(id + 1, "0123456789abcdef") != ID_LEN ||
	    strcmp(id + 1 + ID_LEN, ".log") != 0)
		return -EINVAL;
	lens[0] = (size_t)(namespace - link);
	lens[1] = (size_t)(container - namespace - 1);
	lens[2] = (size_t)(id - container - 1);
	if (!is_name(link, lens[0]) || !is_name(namespace + 1, lens[1]) ||
	    !is_name(container + 1, lens[2]))
		return -EINVAL;
	*name = (struct pod_name){
		.pod = xstrndup(link, lens[0]),
		.namespace = xstrndup(namespace + 1, lens[1]),
		.container = xstrndup(container + 1, lens[2]),
		.id = xstrndup(id + 1, ID_LEN),
	};
	return 0;
}

void pod_name_release(struct pod_name *name)
{
	free(name->pod);
	free(name->namespace);
	free(name->container);
	free(name->id);
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct pod_name *)a)->id, ((const struct pod_name *)b)->id);
}

static void read_links(struct pod_names *names, DIR *links)
{
	size_t cap = 0;
	struct dirent *e;

	while (names->n < NAMES_MAX && (e = readdir(links))) {
		struct pod_name name;

		if (pod_name_parse(e->d_name, &name) < 0)
			continue;
		names->names = xgrow(names->names, names->n, &cap, sizeof(name));
		names->names[names->n++] = name;
	}
	if (names->n > 0)
		qsort(names->names, names->n, sizeof(*names->names), by_id);
}

void pod_names_read(struct pod_names *names, const char *dir)
{
	int fd = file_open_dir(AT_FDCWD, dir, 0);
	DIR *links = fd >= 0 ? fdopendir(fd) : NULL;

	*names = (struct pod_names){ 0 };
	if (links) {
		read_links(names, links);
		(void)closedir(links); /* read-only: nothing to flush */
	} else if (fd >= 0) {
		(void)close(fd);
	}
}

void pod_names_release(struct pod_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		pod_name_release(&names->names[i]);
	free(names->names);
	*names = (struct pod_names){ 0 };
}

const struct pod_name *pod_names_find(const struct pod_names *names, const char *id)
{
	const struct pod_name key = { .id = (char *)id };

	if (!id || names->n == 0)
		return NULL;
	return bsearch(&key, names->names, names->n, sizeof(key), by_id);
}
