#include "fileio/fifo_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/progress.h"
#include "fileio/detached_child.h"
#include "fileio/disk_room.h"
#include "fileio/io.h"

#define CHUNK_BYTES (1u << 20)
#define NAME_CHECK_MS 20
/*
 * nice value of the child, if jtool has the right to set it.  The child needs little CPU time, and
 * the FIFO's writer and jtool wait for the child.
 */
#define PRIORITY -10

/*
 * A chunk of buffered data.  Chunks are allocated with mmap(2), for two reasons: malloc(3) is not
 * safe in a child that was forked while other threads ran, and munmap(2) returns the memory to the
 * system at once.
 *
 * splice(2) would save a copy of the data, but it locks the pipe against writers while it writes to
 * the file.  With splice(2) of 1 MiB at a time, a heap dump took up to 1.6 times as long as with
 * read(2) and write(2); splice(2) of 64 KiB at a time was not faster than read(2) and write(2).
 */
struct chunk {
	struct chunk *next;
	size_t begin, end; /* offsets in `data`: the bytes between them are not written yet */
	char data[CHUNK_BYTES - 3 * sizeof(size_t)];
};
_Static_assert(sizeof(struct chunk) == CHUNK_BYTES, "whole pages");

struct work {
	int from, end, out;
	struct fifo_relay_limits limits;
	const struct fifo_relay_check *check; /* NULL: the data is not checked */
	struct disk_room room; /* limits how much is written to `out` */
	struct chunk *first, *last; /* forward_all() allocates the first chunk */
	struct chunk *spare;
	size_t waiting; /* number of bytes in all chunks that are not written yet */
	struct deadline deadline;
	struct deadline stall; /* while the buffer is full: time at which the relay gives up */
	bool ended; /* the FIFO was read to its end */
};

static struct chunk *new_chunk(struct work *w)
{
	struct chunk *c = w->spare;

	w->spare = NULL;
	if (!c)
		c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	if (c == MAP_FAILED)
		return NULL;
	c->next = NULL;
	c->begin = c->end = 0;
	if (w->last)
		w->last->next = c;
	else
		w->first = c;
	w->last = c;
	return c;
}

static void unmap(struct chunk *c)
{
	if (c)
		(void)munmap(c, sizeof(*c));
}

/* Removes the first chunk, after which there must be another one; frees it or keeps it as spare. */
static void drop_first(struct work *w)
{
	struct chunk *c = w->first;

	w->first = c->next;
	if (w->spare)
		unmap(c);
	else
		w->spare = c;
}

static bool is_full(const struct work *w)
{
	return w->waiting >= w->limits.bytes;
}

static int read_some(struct work *w)
{
	struct chunk *c = w->last;
	ssize_t n;

	if (is_full(w))
		return -EFBIG;
	if (c->end == sizeof(c->data))
		c = new_chunk(w);
	if (!c)
		return -ENOMEM;
	n = io_read(w->from, c->data + c->end, sizeof(c->data) - c->end);
	if (n < 0)
		return n == -EAGAIN ? 0 : (int)n;
	if (n > 0 && w->limits.ms && w->deadline.at_ns == DEADLINE_NEVER.at_ns)
		w->deadline = deadline_in_ms(w->limits.ms);
	c->end += (size_t)n;
	w->waiting += (size_t)n;
	return w->check && n > 0 ? w->check->take(w->check->arg, c->data + c->end - n, (size_t)n)
				 : 0;
}

static int write_some(struct work *w)
{
	struct chunk *c = w->first;
	int rc = disk_room_take(&w->room, c->end - c->begin);
	ssize_t n;

	if (rc < 0)
		return rc;
	n = write(w->out, c->data + c->begin, c->end - c->begin);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	c->begin += (size_t)n;
	w->waiting -= (size_t)n;
	w->stall = DEADLINE_NEVER;
	if (c->begin == c->end && c == w->last)
		c->begin = c->end = 0;
	else if (c->begin == c->end)
		drop_first(w);
	return 0;
}

/* Returns the timeout for poll(2) in milliseconds; -1 means no limit. */
static int longest_wait(const struct work *w, bool full, bool last_poll)
{
	if (w->ended)
		return -1;
	if (full && w->stall.at_ns < w->deadline.at_ns)
		return deadline_left_ms(w->stall);
	if (full)
		return deadline_left_ms(w->deadline);
	return last_poll ? 0 : deadline_left_ms(w->deadline);
}

/*
 * Waits until the FIFO has data or `out` accepts data; then reads, and then writes.  The read is
 * first, because the FIFO's writer may be a paused JVM.  The data ends when poll(2) reports POLLHUP
 * for the FIFO, which never happens if no writer has opened the FIFO.  So step() also polls the
 * pipe `end`, and sets *last_poll when `end` hangs up; the data then ends when the FIFO is empty.
 */
static int step(struct work *w, bool *last_poll)
{
	const bool full = w->limits.stall_ms && is_full(w);
	struct pollfd fds[] = {
		{ .fd = w->ended || full ? -1 : w->from, .events = POLLIN },
		{ .fd = w->ended || full || *last_poll ? -1 : w->end },
		{ .fd = w->out, .events = w->waiting ? POLLOUT : 0 },
	};

	if (full && w->stall.at_ns == DEADLINE_NEVER.at_ns)
		w->stall = deadline_in_ms(w->limits.stall_ms);
	if (poll(fds, ARRAY_SIZE(fds), longest_wait(w, full, *last_poll)) < 0)
		return errno == EINTR ? 0 : -errno;
	if (!w->ended && deadline_passed(w->deadline))
		return -ETIMEDOUT;
	if (full && deadline_passed(w->stall))
		return -ENOBUFS;
	if (fds[2].revents & POLLERR)
		return -EPIPE;
	if (fds[0].revents & POLLIN) {
		int rc = read_some(w);

		if (rc < 0)
			return rc;
	} else if (!full && (fds[0].revents || *last_poll)) {
		w->ended = true;
	}
	*last_poll = *last_poll || fds[1].revents;
	return fds[2].revents & POLLOUT ? write_some(w) : 0;
}

static int forward_all(struct work *w)
{
	bool last_poll = false;
	int rc = new_chunk(w) ? 0 : -ENOMEM;

	while (rc == 0 && (!w->ended || w->waiting > 0))
		rc = step(w, &last_poll);
	return rc;
}

static bool has_name(int fifo)
{
	struct stat st;

	return fstat(fifo, &st) == 0 && st.st_nlink > 0;
}

/*
 * Reads and discards data, so that the writer can go on, until the FIFO is unlinked, the data ends
 * or the pipe `end` hangs up.
 */
static void discard(const struct work *w)
{
	static char discarded[65536];
	struct pollfd fds[] = { { .fd = w->from, .events = POLLIN }, { .fd = w->end } };

	while (has_name(w->from) && !fds[1].revents) {
		if (poll(fds, ARRAY_SIZE(fds), NAME_CHECK_MS) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && io_read(w->from, discarded, sizeof(discarded)) == 0)
			return;
	}
}

/*
 * Makes the kernel kill this child when jtool dies, because nobody needs the data then.  Ends the
 * child if jtool has died already.
 */
static void end_with_parent(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(ECANCELED);
}

/* Waits until the child has ended.  Its exit status is 0 or an errno.  Returns 0 or -errno. */
static int result_of(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECANCELED;
}

static void show(struct progress *line, const char *name, int to)
{
	struct stat st;

	if (fstat(to, &st) == 0)
		progress_show(line, "%s: %" PRIu64 " MiB", name, (uint64_t)st.st_size >> 20);
}

/*
 * Shows the progress line until the child ends.  If the terminal stops the output of this process,
 * only this process blocks; the child goes on.
 */
static void watch(int done, int to, const char *name)
{
	struct progress line;

	progress_begin(&line);
	line.on = line.on && name;
	while (io_wait(done, POLLIN, line.on ? deadline_in_ms(PROGRESS_MS) : DEADLINE_NEVER) ==
	       -ETIMEDOUT)
		show(&line, name, to);
	progress_end(&line);
}

/* Fallback when fork(2) fails: forwards the data in this process. */
static int forward_in_process(struct work *w)
{
	int rc = forward_all(w);

	while (w->first && w->first != w->last)
		drop_first(w);
	unmap(w->first);
	unmap(w->spare);
	return rc;
}

int fifo_relay_to_file(int from, int to, int end, const char *progress, unsigned ms,
		       const struct fifo_relay_check *check)
{
	struct work w = {
		.from = from, .end = end, .out = to,
		.limits = { .bytes = SIZE_MAX, .ms = ms }, .deadline = DEADLINE_NEVER,
		.stall = DEADLINE_NEVER,
		.check = check, .room = disk_room_for_dump(to),
	};
	int done[2], keep[4] = { from, to, end };
	pid_t parent = getpid(), child;

	if (pipe2(done, O_CLOEXEC) < 0)
		return -errno;
	keep[3] = done[1];
	child = detached_child_fork(keep, ARRAY_SIZE(keep));
	if (child == 0) {
		end_with_parent(parent);
		_exit(-forward_all(&w));
	}
	(void)close(done[1]);
	if (child > 0)
		watch(done[0], to, progress);
	(void)close(done[0]);
	return child < 0 ? forward_in_process(&w) : result_of(child);
}

static void _noreturn_ relay(struct work *w, pid_t parent)
{
	int rc;

	end_with_parent(parent);
	(void)setpriority(PRIO_PROCESS, 0, PRIORITY);
	rc = forward_all(w);
	if (rc < 0) {
		/*
		 * Close `out` before discard(), so that the reader of `out` sees the end of the
		 * data now, even if the FIFO's writer goes on for long.
		 */
		(void)close(w->out);
		discard(w);
	}
	_exit(-rc);
}

int fifo_relay_start(struct fifo_relay *r, int from, int end,
		     const struct fifo_relay_limits *limits)
{
	struct work w = {
		.from = from, .end = end, .limits = *limits, .deadline = DEADLINE_NEVER,
		.stall = DEADLINE_NEVER,
	};
	int out[2], keep[3] = { from, end };
	pid_t parent = getpid();

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	/*
	 * Enlarge the pipe and the FIFO, because larger ones need fewer wake-ups of processes.  For
	 * an unprivileged user, the kernel may refuse this.
	 */
	(void)fcntl(out[1], F_SETPIPE_SZ, CHUNK_BYTES);
	(void)fcntl(from, F_SETPIPE_SZ, CHUNK_BYTES);
	(void)fcntl(out[1], F_SETFL, O_NONBLOCK); /* cannot fail for a pipe */
	w.out = keep[2] = out[1];
	r->child = detached_child_fork(keep, ARRAY_SIZE(keep));
	if (r->child == 0)
		relay(&w, parent);
	(void)close(out[1]);
	r->out = out[0];
	if (r->child > 0)
		return 0;
	(void)close(out[0]);
	return (int)r->child;
}

int fifo_relay_end(struct fifo_relay *r)
{
	(void)close(r->out);
	return result_of(r->child);
}
