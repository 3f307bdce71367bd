#include "proc/inroot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fileio/file_open.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/* From linux/openat2.h, which not every libc provides. */
#define RESOLVE_FLAG_NO_MAGICLINKS 0x02
#define RESOLVE_FLAG_IN_ROOT 0x10

struct how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};

static int open_resolved(int root_fd, const char *path, int flags)
{
	const struct how how = {
		.flags = (uint64_t)(unsigned)flags,
		.resolve = RESOLVE_FLAG_IN_ROOT | RESOLVE_FLAG_NO_MAGICLINKS,
	};
	long fd;

	/*
	 * Retry after EAGAIN: because of a rename at the same time, the kernel could not make sure
	 * that the path stays below the root.
	 */
	for (int tries = 0; tries < 32; tries++) {
		fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

/* Opens the path component by component.  If a component is a link or "..", returns -ELOOP. */
static int open_by_component(int root_fd, const char *path, int flags)
{
	_cleanup_close_ int dir = -1;
	char name[NAME_MAX + 1];

	for (;;) {
		size_t len;
		const char *rest;
		int fd, at = dir < 0 ? root_fd : dir;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		rest = path + len + strspn(path + len, "/");
		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		if (strcmp(name, "..") == 0)
			return -ELOOP;
		if (*rest == '\0')
			return file_open_path(at, len ? name : ".", flags | O_NOFOLLOW);
		fd = file_open_path(at, name, O_DIRECTORY | O_NOFOLLOW);
		if (fd < 0)
			return fd == -ENOTDIR ? -ELOOP : fd;
		util_close_p(&dir);
		dir = fd;
		path = rest;
	}
}

int inroot_open(int root_fd, const char *path, int flags)
{
	int fd;

	flags |= O_PATH | O_CLOEXEC;
	fd = open_resolved(root_fd, path, flags);

	/*
	 * Without openat2(2): EPERM if a seccomp filter refuses the unknown system call, ENOSYS if
	 * the kernel does not have it.
	 */
	if (fd == -ENOSYS || fd == -EPERM)
		fd = open_by_component(root_fd, path, flags);
	return fd;
}

int inroot_open_regular(int root_fd, const char *path, int flags, struct stat *st)
{
	_cleanup_close_ int fd = inroot_open(root_fd, path, flags);

	return fd < 0 ? fd : file_reopen_regular(fd, st);
}

const char *inroot_path(const char *path, const char *root)
{
	size_t len = root ? strlen(root) : 0;

	if (len > 1 && strncmp(path, root, len) == 0 && path[len] == '/')
		return path + len;
	return path;
}
