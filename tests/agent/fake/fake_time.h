/*
 * Fake time for programs that are linked with --wrap=poll.  When the agent waits by a poll() of no
 * file, the wait depends neither on clocks nor on the scheduler: it returns at once or, while a
 * test's workers run, when each worker has finished its round and begun the next.
 */
#ifndef JTOOL_TESTS_FAKE_TIME_H
#define JTOOL_TESTS_FAKE_TIME_H

#define FAKE_WORKERS_MAX 16

struct fake_time {
	unsigned ms;      /* the sum of all waits */
	unsigned workers; /* running workers; if there are none, a wait returns at once */
};
extern struct fake_time fake_time;

/* Called by a worker when it begins another round. */
void fake_time_round(unsigned worker);

#endif
