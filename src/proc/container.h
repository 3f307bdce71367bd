/* Identifies a process's container from the text of /proc/PID/cgroup. */
#ifndef JTOOL_PROC_CONTAINER_H
#define JTOOL_PROC_CONTAINER_H

#include "base/util.h"

/*
 * Returns the allocated id that docker, containerd, cri-o and podman use (64 hex digits), or the
 * name of an LXC container or systemd-nspawn machine; NULL: in no known container.
 */
char *container_id(const char *cgroup);

#endif
