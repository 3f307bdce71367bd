#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

#define TRIES 10 /* a JVM of the same pid may have left one when it was killed */

const char *ag_file_why(int error)
{
	switch (error) {
	case ENOENT:
		return "there is no such directory";
	case ENOTDIR:
		return "what should be a directory is none";
	case EISDIR:
		return "it is a directory";
	case ENXIO:
		return "it is no regular file, which a report would replace";
	case EACCES:
	case EPERM:
		return "permission denied";
	case EROFS:
		return "the file system is read-only";
	case ENOSPC:
	case EDQUOT:
		return "no space is left";
	case EFBIG:
		return "the file would be too large";
	case EMFILE:
	case ENFILE:
		return "too many files are open";
	case ENAMETOOLONG:
		return "the name is too long";
	case EEXIST:
		return "temporary files of others are in the way";
	case ENOMEM:
		return "no memory";
	default:
		return "input/output error";
	}
}

static void name_temporary(struct ag_file *file, const char *path, uint32_t pid, unsigned try)
{
	struct ag_text text = ag_text_init(file->temporary, sizeof(file->temporary));

	ag_text_put(&text, path);
	ag_text_put(&text, ".");
	ag_text_number(&text, pid);
	ag_text_put(&text, "-");
	ag_text_number(&text, try);
}

/*
 * An error if what is there is not for a file to take its place: rename() would tell of
 * directories only in the end, and not at all of /dev/null.  stat() is not in every libc under
 * this name.  If nothing can be found out, open() and rename() will tell.
 */
static int taken(const char *path)
{
	struct statx st;

	if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_TYPE, &st) != 0 ||
	    !(st.stx_mask & STATX_TYPE) || S_ISREG(st.stx_mode))
		return 0;
	return S_ISDIR(st.stx_mode) ? EISDIR : ENXIO;
}

int ag_file_open(struct ag_file *file, const char *path, uint32_t pid)
{
	file->n = 0;
	file->error = taken(path);
	file->fd = -1;
	for (unsigned try = 0; file->fd < 0 && file->error == 0; try++) {
		name_temporary(file, path, pid, try);
		file->fd = open(file->temporary,
				O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (file->fd < 0 && (errno != EEXIST || try == TRIES))
			file->error = errno;
	}
	return file->error == 0 ? 0 : -1;
}

static void write_all(struct ag_file *file, const char *data, size_t len)
{
	while (len > 0 && file->error == 0) {
		ssize_t n = write(file->fd, data, len);

		if (n > 0) {
			data += n;
			len -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			file->error = n == 0 ? ENOSPC : errno;
		}
	}
}

void ag_file_put(struct ag_file *file, const char *data, size_t len)
{
	if (len > sizeof(file->data) - file->n) {
		write_all(file, file->data, file->n);
		file->n = 0;
	}
	if (len > sizeof(file->data)) {
		write_all(file, data, len);
		return;
	}
	memcpy(file->data + file->n, data, len);
	file->n += len;
}

void ag_file_drop(struct ag_file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	(void)unlink(file->temporary); /* there is nobody to tell that it stays */
	file->fd = -1;
}

int ag_file_finish(struct ag_file *file, const char *path)
{
	int fd = file->fd;

	write_all(file, file->data, file->n);
	file->fd = -1;
	if (close(fd) != 0 && file->error == 0)
		file->error = errno;
	if (file->error == 0 && rename(file->temporary, path) != 0)
		file->error = errno;
	if (file->error != 0)
		ag_file_drop(file);
	return file->error == 0 ? 0 : -1;
}
