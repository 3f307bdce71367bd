#include "base/drain.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "base/io.h"

/*
 * Taken at a time, by read(2) and write(2).  splice(2) would save a copy, but holds the pipe's
 * lock while it writes to the file, so that nobody can write to the pipe: heap dumps took up to
 * 1.6 times as long with 1 MiB at a time, and with little the same as these.
 */
#define PIECE_BYTES (128 * 1024)
#define PROGRESS_MS 200
#define NO_DEADLINE ((struct deadline){ INT64_MAX })

struct progress {
	const char *name; /* NULL: none */
	uint64_t bytes;
	struct deadline next;
	bool shown;
};

static void show(const char *line, size_t len)
{
	/* Never wait for a terminal that is stopped: the writer would wait with it. */
	if (io_wait(STDERR_FILENO, POLLOUT, deadline_in_ms(0)) == 0 &&
	    write(STDERR_FILENO, line, len) < 0)
		return; /* a line less */
}

static void progress_add(struct progress *p, size_t bytes)
{
	char line[128];

	p->bytes += bytes;
	if (!p->name || !deadline_passed(p->next))
		return;
	p->next = deadline_in_ms(PROGRESS_MS);
	p->shown = true;
	show(line, (size_t)snprintf(line, sizeof(line), "\r%.64s: %" PRIu64 " MB", p->name,
				    p->bytes / 1000000));
}

static void progress_end(const struct progress *p)
{
	static const char erase[] = "\r\033[K";

	if (p->shown)
		show(erase, sizeof(erase) - 1);
}

/* Move what is there: the number of bytes, 0 at the end or -errno. */
static ssize_t take_piece(int from, int to)
{
	static char piece[PIECE_BYTES];
	ssize_t n = io_read(from, piece, sizeof(piece));
	int rc = n > 0 ? io_write_all(to, piece, (size_t)n, NO_DEADLINE) : 0;

	return rc < 0 ? rc : n;
}

/*
 * A FIFO that was never open for writing is silent to poll(2); one whose writers have gone hangs
 * up, behind the last of their bytes.
 */
static int take_all(int from, int to, int end, struct progress *progress)
{
	struct pollfd fds[] = { { .fd = from, .events = POLLIN }, { .fd = end } };
	bool ended = false;

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), ended ? 0 : -1) < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		if (fds[0].revents & POLLIN) {
			ssize_t n = take_piece(from, to);

			if (n < 0 && n != -EAGAIN)
				return (int)n;
			if (n > 0)
				progress_add(progress, (size_t)n);
			continue;
		}
		if (fds[0].revents || ended)
			return 0;
		ended = fds[1].revents != 0; /* look once more for what came just before */
	}
}

int drain_fifo(int from, int to, int end, const char *progress)
{
	static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	struct progress p = { .name = isatty(STDERR_FILENO) ? progress : NULL };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before[ARRAY_SIZE(stops)];
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		(void)sigaction(stops[i], &ignore, &before[i]); /* cannot fail for these */
	p.next = deadline_in_ms(PROGRESS_MS);
	rc = take_all(from, to, end, &p);
	progress_end(&p);
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		(void)sigaction(stops[i], &before[i], NULL);
	return rc;
}
