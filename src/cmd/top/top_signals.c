#include "cmd/top/top_signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

/* Set by the signal handler, which does nothing else: few functions are safe in a handler. */
static volatile sig_atomic_t stop, suspend, resume, resize;

static const struct {
	int sig;
	bool terminal;
} signals[] = {
	{ SIGINT, false }, { SIGTERM, false }, { SIGHUP, true },   { SIGQUIT, true },
	{ SIGTSTP, true }, { SIGCONT, true },  { SIGWINCH, true },
};

static struct sigaction before[ARRAY_SIZE(signals)];
static bool is_handled[ARRAY_SIZE(signals)];
static sigset_t mask_before;

static void handle(int sig)
{
	if (sig == SIGTSTP)
		suspend = 1;
	else if (sig == SIGCONT)
		resume = 1;
	else if (sig == SIGWINCH)
		resize = 1;
	else
		stop = 1;
}

void top_signals_begin(bool terminal)
{
	const struct sigaction action = { .sa_handler = handle };
	sigset_t set;

	stop = suspend = resume = resize = 0;
	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		is_handled[i] = (!signals[i].terminal || terminal) &&
				sigaction(signals[i].sig, NULL, &before[i]) == 0 &&
				before[i].sa_handler != SIG_IGN;
		if (!is_handled[i])
			continue;
		(void)sigaddset(&set, signals[i].sig); /* cannot fail with a valid signal */
	}
	(void)sigprocmask(SIG_BLOCK, &set, &mask_before);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (is_handled[i])
			(void)sigaction(signals[i].sig, &action, NULL);
	}
}

void top_signals_end(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (is_handled[i])
			(void)sigaction(signals[i].sig, &before[i], NULL);
	}
	(void)sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

int top_signals_wait(struct pollfd *fds, size_t n, struct deadline until)
{
	int64_t left = until.at_ns - monotonic_ns();
	const struct timespec ts = { left > 0 ? left / 1000000000 : 0,
				     left > 0 ? left % 1000000000 : 0 };
	int rc = ppoll(fds, n, until.at_ns == INT64_MAX ? NULL : &ts, &mask_before);

	for (size_t i = 0; rc < 0 && i < n; i++)
		fds[i].revents = 0;
	return rc;
}

bool top_signals_stop(void)
{
	return stop;
}

static bool take(volatile sig_atomic_t *flag)
{
	bool seen = *flag;

	*flag = 0;
	return seen;
}

bool top_signals_take_suspend(void)
{
	return take(&suspend);
}

bool top_signals_take_resume(void)
{
	return take(&resume);
}

bool top_signals_take_resize(void)
{
	return take(&resize);
}

static bool is_pending(int sig)
{
	sigset_t set;

	return sigpending(&set) == 0 && sigismember(&set, sig) == 1;
}

void top_signals_suspend(void)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	const struct sigaction action = { .sa_handler = handle };
	struct sigaction old;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTSTP);
	/*
	 * SIGCONT is pending if SIGTTOU has stopped jtool, and the shell has already continued
	 * jtool.  Then jtool must not stop again, because the shell would send no second SIGCONT.
	 */
	if (sigaction(SIGTSTP, NULL, &old) < 0 || old.sa_handler == SIG_IGN || is_pending(SIGCONT))
		return;
	(void)sigaction(SIGTSTP, &by_default, NULL);
	(void)kill(0, SIGTSTP); /* SIGTSTP stays pending in this process, where it is blocked */
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)sigaction(SIGTSTP, &action, NULL);
}
