#include "discover/cpu_limit.h"

#include <sched.h>

#include "discover/cgroup.h"

#define CPUS_MAX 8192 /* maximum number of CPUs that Linux supports */

static double of_affinity(pid_t pid)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	double n = -1;

	if (set && sched_getaffinity(pid, size, set) == 0)
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n;
}

double cpu_limit(pid_t pid)
{
	struct cgroup cgroup = { .cpus = -1 };
	double affinity = -1;
	struct procfs proc;

	if (procfs_open(&proc, "/proc") < 0)
		return -1;
	if (procfs_is_own(&proc))
		affinity = of_affinity(pid);
	cgroup_read(&proc, pid, &cgroup);
	procfs_close(&proc);
	if (affinity < 0 || (cgroup.cpus >= 0 && cgroup.cpus < affinity))
		return cgroup.cpus;
	return affinity;
}
