#include "base/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>

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

static void leave_stdio(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int std = STDIN_FILENO; std <= STDERR_FILENO; std++) {
		/* A closed descriptor would be handed out again: better a wrong one than that. */
		if (fd >= 0 && fd != std)
			(void)dup2(fd, std);
	}
}

pid_t aside_fork(const int *keep, size_t n_keep)
{
	static const int deaf_to[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM };
	pid_t pid = fork();

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	(void)setsid(); /* fails only for a group leader, which a fresh child is not */
	for (size_t i = 0; i < ARRAY_SIZE(deaf_to); i++)
		(void)signal(deaf_to[i], SIG_IGN);
	if (chdir("/") < 0) /* a file system that it stays in could not be unmounted */
		_exit(1);
	leave_stdio();
	close_others(keep, n_keep);
	return 0;
}
