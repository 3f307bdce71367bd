/*
 * Which container a process is in, told from the text of /proc/PID/cgroup.
 */
#ifndef JTOOL_TARGET_CONTAINER_H
#define JTOOL_TARGET_CONTAINER_H

#include "base/util.h"

/*
 * The id that docker, containerd, cri-o and podman give (64 hex digits), or the name of an LXC
 * container or a machine of systemd-nspawn.  NULL when it is in none that we know.  Allocated.
 */
char *container_id(const char *cgroup);

#endif
