#include "fileio/watchdog.h"

#include <stddef.h>

#include "base/deadline.h"

#define NS_PER_MS 1000000LL

static struct watchdog *watchdog; /* shared with the parent; NULL: no parent watches this process */

void watchdog_attach(struct watchdog *w)
{
	watchdog = w;
}

void watchdog_extend(unsigned ms)
{
	if (watchdog)
		watchdog->due_ns = monotonic_ns() + ((int64_t)ms + WATCHDOG_WORK_MS) * NS_PER_MS;
}
