#include "cmd/follow.h"

#include <limits.h>
#include <time.h>

#include "cli/stop_signals.h"

#define TICK_MS 100

void follow_begin(struct follow *f)
{
	stop_signals(&f->signals);
	(void)sigprocmask(SIG_BLOCK, &f->signals, &f->old);
}

void follow_end(const struct follow *f)
{
	(void)sigprocmask(SIG_SETMASK, &f->old, NULL);
}

void follow_expect_end(struct follow *f, unsigned duration_ms)
{
	f->end = duration_ms > 0 && duration_ms < UINT_MAX - f->stop_ms ?
			 deadline_in_ms(duration_ms + f->stop_ms) : DEADLINE_NEVER;
}

static bool is_signalled(const struct follow *f)
{
	const struct timespec now = { 0, 0 };

	return sigtimedwait(&f->signals, NULL, &now) >= 0;
}

static int stop(struct follow *f, struct session *s, struct err *err)
{
	f->stopped = true;
	f->stopped_early = !f->begun;
	f->end = deadline_in_ms(f->stop_ms);
	follow_end(f); /* from now on, a second signal ends jtool */
	return session_send(s, f->stop_request, NULL, err);
}

static int tick(struct session *s, void *arg, struct err *err)
{
	struct follow *f = arg;
	bool enough = f->tick(f->arg);

	if (deadline_passed(f->end))
		return err_set(err, EXIT_PARTIAL,
			       "JVM %d did not %s the %s in time; it may be stopped: %s when it "
			       "runs again", (int)f->ctx->jvm->pid, f->begun ? "end" : "begin",
			       f->what, f->restore);
	/*
	 * Call is_signalled() before stop(): is_signalled() removes the pending signal.  stop()
	 * unblocks the signals, and a signal that is then still pending would end jtool.
	 */
	return !f->stopped && (is_signalled(f) || enough) ? stop(f, s, err) : 0;
}

static int take(void *arg, uint16_t type, struct wire_reader *payload)
{
	const struct follow *f = arg;

	return f->take(f->arg, type, payload);
}

int follow_run(struct follow *f, struct session *s, struct err *err)
{
	return session_follow(s, take, tick, TICK_MS, f, err);
}
