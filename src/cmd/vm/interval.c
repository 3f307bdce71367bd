#include "cmd/vm/interval.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "base/deadline.h"
#include "cli/parse_duration.h"
#include "cli/stop_signals.h"

int interval_parse(struct interval *interval, char *const *words, int n_words, struct err *err)
{
	const char *problem;

	*interval = (struct interval){ .interval_ms = 0 };
	if (n_words > 0) {
		if (parse_duration(words[0], 1, &interval->interval_ms) < 0 ||
		    interval->interval_ms == 0)
			return err_set(err, EXIT_USAGE,
				       "invalid interval '%s': expected a time such as 500ms or "
				       "2s; a bare number is in milliseconds", words[0]);
	}
	if (n_words > 1) {
		interval->count = (unsigned)strtonum(words[1], 1, INT_MAX, &problem);
		if (problem)
			return err_set(err, EXIT_USAGE,
				       "invalid count '%s': expected the number of samples, at "
				       "least 1", words[1]);
	}
	return 0;
}

void interval_begin(struct interval *interval)
{
	(void)sigemptyset(&interval->stop);
	if (interval->interval_ms > 0) {
		stop_signals(&interval->stop);
		(void)sigprocmask(SIG_BLOCK, &interval->stop, NULL);
	}
	interval->next_ns = monotonic_ns();
}

/* Waits until monotonic_ns() returns at_ns.  Returns false if a signal arrives first. */
static bool wait_until(int64_t at_ns, const sigset_t *stop)
{
	for (;;) {
		int64_t left = at_ns - monotonic_ns();
		const struct timespec ts = { left > 0 ? left / 1000000000 : 0,
					     left > 0 ? left % 1000000000 : 0 };

		if (sigtimedwait(stop, NULL, &ts) >= 0)
			return false;
		if (errno == EAGAIN && left <= 0)
			return true;
	}
}

bool interval_next(struct interval *interval)
{
	int64_t interval_ns = (int64_t)interval->interval_ms * 1000000, late_ns;

	interval->done++;
	if (interval_ns == 0 || (interval->count > 0 && interval->done >= interval->count))
		return false;
	interval->next_ns += interval_ns;
	late_ns = monotonic_ns() - interval->next_ns;
	if (late_ns > 0)
		interval->next_ns += late_ns / interval_ns * interval_ns;
	return wait_until(interval->next_ns, &interval->stop);
}

bool interval_is_complete(const struct interval *interval)
{
	return interval->done >= interval->count;
}
