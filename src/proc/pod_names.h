/*
 * Finds the names of a Kubernetes container by the container's id.  For each container, the kubelet
 * creates a link to the container's log, in the directory POD_NAMES_DIR.  The name of the link is
 * POD_NAMESPACE_CONTAINER-ID.log: it has the names of the pod, the namespace and the container, and
 * the container's id.
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
 * Parses the name of a link into *name.  Returns 0, or -EINVAL if the name does not have the
 * kubelet's form.  The caller releases *name with pod_name_release().
 */
int pod_name_parse(const char *link, struct pod_name *name) _must_check_;
void pod_name_release(struct pod_name *name);

/* Reads the links in the directory `dir`.  If `dir` cannot be read, *names becomes empty. */
void pod_names_read(struct pod_names *names, const char *dir);
void pod_names_release(struct pod_names *names);

/* Returns the names of the container with this id, or NULL.  `id` may be NULL. */
const struct pod_name *pod_names_find(const struct pod_names *names, const char *id);

#endif
