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

static double of_cgroup(pid_t pid)
{
	struct cgroup cgroup = { .cpus = -1 };
	struct procfs proc;

	if (procfs_open(&proc, "/proc") < 0)
		return -1;
	cgroup_read(&proc, pid, &cgroup);
	procfs_close(&proc);
	return cgroup.cpus;
}

double cpu_limit(pid_t pid)
{
	double affinity = of_affinity(pid), cgroup = of_cgroup(pid);

	return affinity < 0 || (cgroup >= 0 && cgroup < affinity) ? cgroup : affinity;
}
