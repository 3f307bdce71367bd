#include "base/outguard.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/aside.h"
#include "base/io.h"
#include "base/xalloc.h"

static void _noreturn_ stand_guard(const struct outguard *g, int end)
{
	char byte = 0;

	if (io_write_all(end, &byte, 1, IO_NO_DEADLINE) < 0)
		_exit(1);
	while (io_read(end, &byte, 1) > 0)
		;
	(void)unlinkat(g->dir_fd, g->name, 0); /* it has its own name by now, or goes */
	_exit(0);
}

/* Until it has left our process group, what kills that would kill it as well. */
static int wait_until_it_stands(const struct outguard *g)
{
	char byte;
	ssize_t n = io_read(g->end_fd, &byte, 1);

	return n == 1 ? 0 : n < 0 ? (int)n : -ECHILD;
}

int outguard_start(struct outguard *g)
{
	int ends[2], keep[2];

	if (g->name)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	g->name = xasprintf(".jtool-out.%08x%08x", arc4random(), arc4random());
	keep[0] = ends[0];
	keep[1] = g->dir_fd;
	g->end_fd = ends[1];
	g->pid = aside_fork(keep, ARRAY_SIZE(keep));
	if (g->pid == 0)
		stand_guard(g, ends[0]);
	(void)close(ends[0]);
	return g->pid < 0 ? g->pid : wait_until_it_stands(g);
}

void outguard_release(struct outguard *g)
{
	util_close_p(&g->end_fd); /* and the process removes it */
	while (g->pid > 0 && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(g->name);
	g->name = NULL;
}
