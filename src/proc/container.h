/* Identifies a process's container from the text of /proc/PID/cgroup. */
#ifndef JTOOL_PROC_CONTAINER_H
#define JTOOL_PROC_CONTAINER_H

#include "base/util.h"

/*
 * Returns the container's id (64 hex digits) for docker, containerd, cri-o and podman, or the name
 * of an LXC container or systemd-nspawn machine; NULL if the process is in no known container.  The
 * caller frees it.
 */
char *container_id(const char *cgroup);

/*
 * Returns the uid of the process's Kubernetes pod, which the kubelet puts into the cgroup path: a
 * UUID, or 32 hex digits for a static pod.  Returns NULL if the process is in no pod.  The caller
 * frees the text.
 */
char *container_pod_uid(const char *cgroup);

/*
 * Returns the id of the pod's container that the process is in.  This differs from container_id()
 * if the process is in a container inside the pod's container, or in a control group that a program
 * has created and named like a container.  Returns NULL if the process is in no pod.  The caller
 * frees the id.
 */
char *container_of_pod(const char *cgroup);

#endif
