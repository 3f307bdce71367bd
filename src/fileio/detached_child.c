#include "fileio/detached_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>

#include "fileio/file_open.h"

static bool is_kept(int fd, const int *keep, size_t n_keep)
{
	for (size_t i = 0; i < n_keep; i++) {
		if (keep[i] == fd)
			return true;
	}
	return false;
}

static void close_others(const int *keep, size_t n_keep)
{
	int last = STDERR_FILENO;

	for (size_t i = 0; i < n_keep; i++) {
		if (keep[i] > last)
			last = keep[i];
	}
	for (int fd = STDERR_FILENO + 1; fd < last; fd++) {
		if (!is_kept(fd, keep, n_keep))
			(void)close(fd);
	}
	closefrom(last + 1);
}

static void redirect_stdio(void)
{
	int fd = file_open_null(O_RDWR);

	for (int std = STDIN_FILENO; std <= STDERR_FILENO; std++) {
		/*
		 * If /dev/null cannot be opened, leave stdio as it is.  If stdio were closed, the
		 * next open(2) would return the number of stdin, stdout or stderr.
		 */
		if (fd >= 0 && fd != std)
			(void)dup2(fd, std);
	}
}

pid_t detached_child_fork(const int *keep, size_t n_keep)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM };
	pid_t pid = fork();

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	(void)setsid(); /* fails only for a process group leader, which a new child is not */
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	/* Leave the working directory: its file system cannot be unmounted while it is in use. */
	if (chdir("/") < 0)
		_exit(1);
	redirect_stdio();
	close_others(keep, n_keep);
	return 0;
}
