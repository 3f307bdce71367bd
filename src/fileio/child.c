#include "fileio/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/*
 * Maximum wait in ms after SIGKILL.  SIGKILL ends a child, even a stopped one, within microseconds;
 * but it does not end a child that is blocked in the kernel.
 */
#define KILL_MS 100
#define STEP_MS 1 /* polling interval on Linux before 5.3, which has no pidfds */

/* Returns 1 if the child has ended; 0 at the deadline; or a negative errno. */
static int wait_until(pid_t pid, int *status, struct deadline d)
{
	struct pollfd pfd = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int rc;

	for (;;) {
		int left_ms = deadline_left_ms(d);
		pid_t done = waitpid(pid, status, WNOHANG);

		rc = done > 0 ? 1 : done < 0 && errno != EINTR ? -errno : 0;
		if (rc != 0 || left_ms == 0)
			break;
		(void)poll(&pfd, 1, pfd.fd < 0 && left_ms > STEP_MS ? STEP_MS : left_ms);
	}
	util_close_p(&pfd.fd);
	return rc;
}

int child_wait(pid_t pid, int *status, struct deadline d)
{
	int rc = wait_until(pid, status, d);

	if (rc == 0) {
		child_kill(pid);
		return -ETIMEDOUT;
	}
	return rc < 0 ? rc : 0;
}

int child_wait_errno(pid_t pid, struct deadline d)
{
	int status, rc = child_wait(pid, &status, d);

	if (rc < 0)
		return rc;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

void child_kill(pid_t pid)
{
	int status;

	(void)kill(pid, SIGKILL);
	(void)wait_until(pid, &status, deadline_in_ms(KILL_MS));
}
