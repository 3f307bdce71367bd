/* Stand-ins for functions of the C library, in programs that are linked with --wrap. */
#include <check.h>
#include <sys/socket.h>

#include "agent/fake/jvm_core.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
ssize_t __real_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);

/* An allocation by the agent counts as a call that may fail. */
void *__wrap_calloc(size_t n, size_t size)
{
	return fake.in_agent && fake_fails() ? NULL : __real_calloc(n, size);
}

/* The client may be stopped and send() may wait for it: the caller must hold no lock. */
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
	if (fake.locks)
		ck_abort_msg("a thread with a lock sends");
	return __real_send(fd, data, len, flags);
}
