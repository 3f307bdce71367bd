#include "cli/stop_signals.h"

#include <stddef.h>

void stop_signals_add(sigset_t *set, int sig)
{
	struct sigaction now;

	if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		(void)sigaddset(set, sig); /* cannot fail with a valid signal */
}

void stop_signals(sigset_t *set)
{
	(void)sigemptyset(set);
	stop_signals_add(set, SIGINT);
	stop_signals_add(set, SIGTERM);
}
