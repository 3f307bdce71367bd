/*
 * The names of Kubernetes containers by their ids.  The kubelet puts a link for each container's
 * log into a directory, and the name of the link has all four: POD_NAMESPACE_CONTAINER-ID.log.
 */
#ifndef JTOOL_PROC_POD_NAMES_H
#define JTOOL_PROC_POD_NAMES_H

#include <stddef.h>

#include "base/util.h"

#define POD_NAMES_DIR "/var/log/containers"

struct pod_name {
	char *pod, *namespace, *container, *id;
};

struct pod_names {
	struct pod_name *names; /* sorted by id */
	size_t n;
};

/*
 * Parses the name of a link.  Returns 0, or -EINVAL if it is not one of the kubelet's.  The caller
 * releases it with pod_name_release().
 */
int pod_name_parse(const char *link, struct pod_name *name) _must_check_;
void pod_name_release(struct pod_name *name);

/* Reads the directory; without it, there are no names. */
void pod_names_read(struct pod_names *names, const char *dir);
void pod_names_release(struct pod_names *names);

/* Returns the names of the container, or NULL.  id may be NULL. */
const struct pod_name *pod_names_find(const struct pod_names *names, const char *id);

#endif
