#include "base/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/aside.h"
#include "base/io.h"
#include "base/progress.h"

/*
 * Taken at a time, by read(2) and write(2).  splice(2) would save a copy, but holds the pipe's
 * lock while it writes to the file, so that nobody can write to the pipe: heap dumps took up to
 * 1.6 times as long with 1 MiB at a time, and with little the same as these.
 */
#define PIECE_BYTES (128 * 1024)

/* Move what is there: the number of bytes, 0 at the end or -errno. */
static ssize_t take_piece(int from, int to)
{
	static char piece[PIECE_BYTES];
	ssize_t n = io_read(from, piece, sizeof(piece));
	int rc = n > 0 ? io_write_all(to, piece, (size_t)n, IO_NO_DEADLINE) : 0;

	return rc < 0 ? rc : n;
}

/*
 * A FIFO that was never open for writing is silent to poll(2); one whose writers have gone hangs
 * up, behind the last of their bytes.
 */
static int take_all(int from, int to, int end)
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
			continue;
		}
		if (fds[0].revents || ended)
			return 0;
		ended = fds[1].revents != 0; /* look once more for what came just before */
	}
}

/* In a child: who kills its parent does not want the rest. */
static void _noreturn_ work(int from, int to, int end)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(errno);
	_exit(-take_all(from, to, end));
}

static void show(struct progress *line, const char *name, int to)
{
	struct stat st;

	if (fstat(to, &st) == 0)
		progress_tell(line, "%s: %" PRIu64 " MB", name, (uint64_t)st.st_size / 1000000);
}

/* Until the child has ended.  Nothing waits for us: a terminal may stop us, or this line. */
static void watch(int done, int to, const char *name)
{
	struct progress line;

	progress_begin(&line);
	line.on = line.on && name;
	while (io_wait(done, POLLIN, line.on ? deadline_in_ms(PROGRESS_MS) : IO_NO_DEADLINE) ==
	       -ETIMEDOUT)
		show(&line, name, to);
	progress_end(&line);
}

/* What became of it: a negative errno is its exit status. */
static int result_of(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECANCELED;
}

int drain_fifo(int from, int to, int end, const char *progress)
{
	int done[2], keep[4] = { from, to, end };
	pid_t child;

	if (pipe2(done, O_CLOEXEC) < 0)
		return -errno;
	keep[3] = done[1];
	child = aside_fork(keep, ARRAY_SIZE(keep));
	if (child == 0)
		work(from, to, end);
	(void)close(done[1]);
	if (child > 0)
		watch(done[0], to, progress);
	(void)close(done[0]);
	/* Where there is no room for a process: better by ourselves than not at all. */
	return child < 0 ? take_all(from, to, end) : result_of(child);
}
