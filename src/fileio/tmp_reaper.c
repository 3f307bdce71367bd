#include "fileio/tmp_reaper.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "fileio/detached_child.h"
#include "fileio/io.h"
#include "base/xalloc.h"

static void _noreturn_ unlink_at_end(const struct tmp_reaper *r, int end)
{
	char byte = 0;

	if (io_write_all(end, &byte, 1, DEADLINE_NEVER) < 0)
		_exit(1);
	while (io_read(end, &byte, 1) > 0)
		;
	/* Ignore a failure: the file may have been renamed to its final name. */
	(void)unlinkat(r->dir_fd, r->name, 0);
	_exit(0);
}

/*
 * Waits until the child has left jtool's process group, because until then a signal to the group
 * would kill the child.
 */
static int wait_until_ready(const struct tmp_reaper *r)
{
	char byte;
	ssize_t n = io_read(r->end_fd, &byte, 1);

	return n == 1 ? 0 : n < 0 ? (int)n : -ECHILD;
}

int tmp_reaper_start(struct tmp_reaper *r)
{
	int ends[2], keep[2], rc;

	if (r->name)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	r->name = xasprintf(".jtool-out.%08x%08x", arc4random(), arc4random());
	keep[0] = ends[0];
	keep[1] = r->dir_fd;
	r->end_fd = ends[1];
	r->pid = detached_child_fork(keep, ARRAY_SIZE(keep));
	if (r->pid == 0)
		unlink_at_end(r, ends[0]);
	(void)close(ends[0]);
	rc = r->pid < 0 ? r->pid : wait_until_ready(r);
	if (rc < 0)
		tmp_reaper_release(r); /* sets r->name to NULL, which means that no child runs */
	return rc;
}

void tmp_reaper_release(struct tmp_reaper *r)
{
	/* The child sees the end of file on its socket, removes the file and exits. */
	util_close_p(&r->end_fd);
	r->end_fd = -1;
	while (r->pid > 0 && waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	r->pid = -1;
	free(r->name);
	r->name = NULL;
}
