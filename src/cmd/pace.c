#include "cmd/pace.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "base/duration.h"
#include "base/io.h"
#include "base/stop.h"

int pace_parse(struct pace *pace, char *const *words, int n_words, struct err *err)
{
	const char *problem;

	*pace = (struct pace){ .interval_ms = 0 };
	if (n_words > 0) {
		if (duration_parse(words[0], 1, &pace->interval_ms) < 0 ||
		    pace->interval_ms == 0)
			return err_set(err, EXIT_USAGE,
				       "'%s' is no INTERVAL: write 1s, 500ms, or 500 for "
				       "milliseconds", words[0]);
	}
	if (n_words > 1) {
		pace->count = (unsigned)strtonum(words[1], 1, INT_MAX, &problem);
		if (problem)
			return err_set(err, EXIT_USAGE,
				       "'%s' is no COUNT: write how many samples to take",
				       words[1]);
	}
	return 0;
}

void pace_begin(struct pace *pace)
{
	(void)sigemptyset(&pace->stop);
	if (pace->interval_ms > 0) {
		stop_signals(&pace->stop);
		(void)sigprocmask(SIG_BLOCK, &pace->stop, NULL);
	}
	pace->next_ns = io_now_ns();
}

/* False when a signal came first. */
static bool wait_until(int64_t at_ns, const sigset_t *stop)
{
	for (;;) {
		int64_t left = at_ns - io_now_ns();
		const struct timespec ts = { left > 0 ? left / 1000000000 : 0,
					     left > 0 ? left % 1000000000 : 0 };

		if (sigtimedwait(stop, NULL, &ts) >= 0)
			return false;
		if (errno == EAGAIN && left <= 0)
			return true;
	}
}

bool pace_next(struct pace *pace)
{
	int64_t interval = (int64_t)pace->interval_ms * 1000000, late;

	pace->done++;
	if (interval == 0 || (pace->count > 0 && pace->done >= pace->count))
		return false;
	pace->next_ns += interval;
	late = io_now_ns() - pace->next_ns;
	if (late > 0)
		pace->next_ns += late / interval * interval;
	return wait_until(pace->next_ns, &pace->stop);
}

bool pace_is_complete(const struct pace *pace)
{
	return pace->done >= pace->count;
}
