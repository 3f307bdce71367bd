#include "base/progress.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/deadline.h"

#define CLEAR "\r\033[K"

void progress_begin(struct progress *p)
{
	*p = (struct progress){
		.on = isatty(STDERR_FILENO),
		.next_ns = deadline_in_ms(PROGRESS_MS).at_ns,
	};
}

static bool can_write_stderr(void)
{
	struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&pfd, 1, 0) > 0 && pfd.revents & POLLOUT;
}

bool progress_due(struct progress *p)
{
	if (!p->on || monotonic_ns() < p->next_ns)
		return false;
	p->next_ns = deadline_in_ms(PROGRESS_MS).at_ns;
	return can_write_stderr();
}

void progress_show(struct progress *p, const char *fmt, ...)
{
	va_list ap;

	if (!p->on)
		return;
	fputs(CLEAR, stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap); /* a progress line that cannot be printed does no harm */
	va_end(ap);
	p->shown = true;
}

void progress_wait(struct progress *p, const char *what, int pid, int64_t since_ns)
{
	if (progress_due(p))
		progress_show(p, "waiting for %s of JVM %d for %" PRId64 " s", what, pid,
			      (monotonic_ns() - since_ns) / 1000000000);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs(CLEAR, stderr);
	p->shown = false;
}
