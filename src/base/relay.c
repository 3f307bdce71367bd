#include "base/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/aside.h"
#include "base/io.h"

#define PIECE_BYTES (1u << 20)
#define NAME_CHECK_MS 20
#define PRIORITY -10 /* where it may: it has little to do, and is waited for */

/*
 * What waits, in pieces that are mapped rather than allocated: the process was forked beside
 * other threads, and what was read goes back to the system at once.
 */
struct piece {
	struct piece *next;
	size_t begin, end; /* of what is in it */
	char data[PIECE_BYTES - 3 * sizeof(size_t)];
};
_Static_assert(sizeof(struct piece) == PIECE_BYTES, "whole pages");

struct work {
	int from, end, out;
	struct relay_limits limits;
	struct piece *first, *last, *spare;
	size_t waiting; /* bytes of all pieces */
	struct deadline deadline;
	bool ended; /* nothing more comes */
};

static struct piece *new_piece(struct work *w)
{
	struct piece *p = w->spare;

	w->spare = NULL;
	if (!p)
		p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	p->next = NULL;
	p->begin = p->end = 0;
	if (w->last)
		w->last->next = p;
	else
		w->first = p;
	w->last = p;
	return p;
}

/* There is another one behind it. */
static void drop_first(struct work *w)
{
	struct piece *p = w->first;

	w->first = p->next;
	if (w->spare)
		(void)munmap(p, sizeof(*p));
	else
		w->spare = p;
}

/* Take what is there. */
static int take(struct work *w)
{
	struct piece *p = w->last;
	ssize_t n;

	if (w->waiting >= w->limits.bytes)
		return -EFBIG;
	if (!p || p->end == sizeof(p->data))
		p = new_piece(w);
	if (!p)
		return -ENOMEM;
	n = io_read(w->from, p->data + p->end, sizeof(p->data) - p->end);
	if (n < 0)
		return n == -EAGAIN ? 0 : (int)n;
	if (n > 0 && w->limits.ms && w->deadline.at_ns == IO_NO_DEADLINE.at_ns)
		w->deadline = deadline_in_ms(w->limits.ms);
	p->end += (size_t)n;
	w->waiting += (size_t)n;
	return 0;
}

/* Pass on as much as goes. */
static int give(struct work *w)
{
	struct piece *p = w->first;
	ssize_t n = write(w->out, p->data + p->begin, p->end - p->begin);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	p->begin += (size_t)n;
	w->waiting -= (size_t)n;
	if (p->begin == p->end && p == w->last)
		p->begin = p->end = 0;
	else if (p->begin == p->end)
		drop_first(w);
	return 0;
}

/*
 * Who writes comes first.  A FIFO that was never open for writing is silent to poll(2); one whose
 * writers have gone hangs up, behind the last of their bytes.
 */
static int step(struct work *w, bool *last_look)
{
	struct pollfd fds[] = {
		{ .fd = w->ended ? -1 : w->from, .events = POLLIN },
		{ .fd = w->ended || *last_look ? -1 : w->end },
		{ .fd = w->out, .events = w->waiting ? POLLOUT : 0 },
	};
	int wait = *last_look && !w->ended ? 0 : w->ended ? -1 : deadline_left_ms(w->deadline);
	int n = poll(fds, ARRAY_SIZE(fds), wait);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (!w->ended && deadline_passed(w->deadline))
		return -ETIMEDOUT;
	if (fds[2].revents & POLLERR)
		return -EPIPE;
	if (fds[0].revents & POLLIN) {
		int rc = take(w);

		if (rc < 0)
			return rc;
	} else if (fds[0].revents || *last_look) {
		w->ended = true;
	}
	*last_look = *last_look || fds[1].revents;
	return fds[2].revents & POLLOUT ? give(w) : 0;
}

static int pass_all_on(struct work *w)
{
	bool last_look = false;
	int rc = 0;

	while (rc == 0 && (!w->ended || w->waiting > 0))
		rc = step(w, &last_look);
	return rc;
}

static bool has_name(int fifo)
{
	struct stat st;

	return fstat(fifo, &st) == 0 && st.st_nlink > 0;
}

/* Nobody wants the rest: hang up as soon as we are the only one to listen. */
static void let_go(const struct work *w)
{
	static char nowhere[65536];
	struct pollfd fds[] = { { .fd = w->from, .events = POLLIN }, { .fd = w->end } };

	while (has_name(w->from) && !fds[1].revents) {
		if (poll(fds, ARRAY_SIZE(fds), NAME_CHECK_MS) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && io_read(w->from, nowhere, sizeof(nowhere)) == 0)
			return;
	}
}

static void _noreturn_ run(struct work *w)
{
	int rc;

	/* Who kills its parent does not want the rest. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(errno);
	(void)setpriority(PRIO_PROCESS, 0, PRIORITY);
	rc = pass_all_on(w);
	if (rc < 0) {
		(void)close(w->out); /* who reads need not wait for the writer */
		let_go(w);
	}
	_exit(-rc);
}

int relay_start(struct relay *r, int from, int end, const struct relay_limits *limits)
{
	struct work w = { from, end, -1, *limits, NULL, NULL, NULL, 0, IO_NO_DEADLINE, false };
	int out[2], keep[3] = { from, end };

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	/* Larger where it is allowed: fewer turns for the same bytes. */
	(void)fcntl(out[1], F_SETPIPE_SZ, PIECE_BYTES);
	(void)fcntl(from, F_SETPIPE_SZ, PIECE_BYTES);
	(void)fcntl(out[1], F_SETFL, O_NONBLOCK); /* fails for no pipe */
	w.out = keep[2] = out[1];
	r->child = aside_fork(keep, ARRAY_SIZE(keep));
	if (r->child == 0)
		run(&w);
	(void)close(out[1]);
	r->out = out[0];
	if (r->child > 0)
		return 0;
	(void)close(out[0]);
	return (int)r->child;
}

int relay_end(struct relay *r)
{
	int status;

	(void)close(r->out);
	while (waitpid(r->child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECANCELED;
}
