#include "proc/process_set.h"

static size_t length(const struct process_set *set)
{
	return set->n < PROCESS_SET_MAX ? set->n : PROCESS_SET_MAX;
}

static bool has(const struct process_set *set, pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < length(set); i++) {
		if (set->processes[i].pid == pid && set->processes[i].start_ticks == start_ticks)
			return true;
	}
	return false;
}

bool process_set_has(const struct process_set *set, const struct procfs *proc, pid_t pid)
{
	struct proc_status status;

	return set->n > 0 && procfs_status(proc, pid, &status) == 0 &&
	       has(set, pid, status.start_ticks);
}

void process_set_add(struct process_set *set, pid_t pid, uint64_t start_ticks)
{
	size_t n = length(set);

	if (n == PROCESS_SET_MAX || has(set, pid, start_ticks))
		return;
	set->processes[n].pid = pid;
	set->processes[n].start_ticks = start_ticks;
	set->n = n + 1;
}
