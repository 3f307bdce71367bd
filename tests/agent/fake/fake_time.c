#include "agent/fake/fake_time.h"

#include <poll.h>
#include <sched.h>
#include <stdint.h>

struct fake_time fake_time;
static uint64_t rounds[FAKE_WORKERS_MAX];

int __real_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);

void fake_time_round(unsigned worker)
{
	(void)__atomic_add_fetch(&rounds[worker], 1, __ATOMIC_RELAXED);
}

static uint64_t round_of(unsigned worker)
{
	return __atomic_load_n(&rounds[worker], __ATOMIC_RELAXED);
}

static void wait_for_workers(void)
{
	uint64_t was[FAKE_WORKERS_MAX];

	for (unsigned i = 0; i < fake_time.workers; i++)
		was[i] = round_of(i);
	for (unsigned i = 0; i < fake_time.workers; i++) {
		while (round_of(i) == was[i])
			(void)sched_yield();
	}
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	if (n > 0)
		return __real_poll(fds, n, ms);
	fake_time.ms += (unsigned)ms;
	wait_for_workers();
	return 0;
}
