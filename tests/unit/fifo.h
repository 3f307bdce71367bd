/*
 * A FIFO in a directory of the test's own: one process takes what others write, and is told by the
 * end of a pipe when it need not wait for more.  A fixture of two functions, and what tests do.
 */
#ifndef JTOOL_TESTS_FIFO_H
#define JTOOL_TESTS_FIFO_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/xalloc.h"

#define MUCH (5u * 1024 * 1024 + 123) /* more than any pipe holds */

static char dir[] = "/tmp/check-fifo.XXXXXX"; /* for mkdtemp(3) */
static char *path;                            /* the FIFO's */
static int from;   /* it, to be read; -1: closed */
static int end[2]; /* the pipe; -1: closed */

static void close_now(int *fd)
{
	util_close_p(fd);
	*fd = -1;
}

static void make_fifo(void)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6); /* again, where tests do not fork */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(from, 0);
	ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
}

static void remove_fifo(void)
{
	close_now(&from);
	close_now(&end[0]);
	close_now(&end[1]);
	(void)unlink(path);
	(void)rmdir(dir);
	free(path);
}

/* What byte i of everything that is written is. */
static char written_at(size_t i)
{
	return (char)(i % 251);
}

/* A writer of `len` bytes, then open for ms: exit 0 when all were taken, 1: the pipe broke. */
static pid_t writer(size_t len, int ms)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC); /* while there is a reader, or it would wait */
	pid_t pid = fork();

	if (pid == 0) {
		int rc = 0;

		close_now(&from);
		(void)signal(SIGPIPE, SIG_IGN);
		for (size_t i = 0; rc == 0 && i < len; i++) {
			static char piece[4096];
			size_t at = i % sizeof(piece);

			piece[at] = written_at(i);
			if (at == sizeof(piece) - 1 || i == len - 1)
				rc = io_write_all(fd, piece, at + 1, deadline_in_ms(10000));
		}
		(void)poll(NULL, 0, ms);
		_exit(rc == 0 ? 0 : rc == -EPIPE ? 1 : 2);
	}
	ck_assert_int_gt(pid, 0);
	(void)close(fd);
	return pid;
}

/* Waits for it; it must not have been killed. */
static int exit_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#endif
