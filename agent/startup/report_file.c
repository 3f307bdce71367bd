#include "startup/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef STATX_TYPE
#include <linux/stat.h> /* struct statx; sys/stat.h of musl before 1.2.5 does not have it */
#endif

#include "util/text.h"

/* maximum number of temporary names to try: a killed JVM with the same pid may have left files */
#define TRIES 10

const char *ag_report_file_why(int error)
{
	switch (error) {
	case ENOENT:
		return "no such directory";
	case ENOTDIR:
		return "a parent is not a directory";
	case EISDIR:
		return "it is a directory";
	case ENXIO:
		return "it is not a regular file; name another file";
	case EACCES:
	case EPERM:
		return "permission denied";
	case EROFS:
		return "read-only file system";
	case ENOSPC:
	case EDQUOT:
		return "no space left on device";
	case EFBIG:
		return "file too large";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENAMETOOLONG:
		return "file name too long";
	case EEXIST:
		return "temporary files exist; delete FILE.PID-N";
	case ENOMEM:
		return "no memory";
	default:
		return "input/output error";
	}
}

static void name_temporary(struct ag_report_file *file, const char *path, uint32_t pid,
			   unsigned try)
{
	struct ag_text text = ag_text_init(file->temporary, sizeof(file->temporary));

	ag_text_put(&text, path);
	ag_text_put(&text, ".");
	ag_text_number(&text, pid);
	ag_text_put(&text, "-");
	ag_text_number(&text, try);
}

/*
 * Returns an errno if `path` exists and is not a regular file.  Without this check, rename() at the
 * end of the recording would fail for a directory, and would replace /dev/null.  Calls statx
 * directly, because glibc exports stat() only since 2.33.  If statx fails, returns 0: open() or
 * rename() then reports the error.
 */
static int check_existing(const char *path)
{
	struct statx st;

	if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_TYPE, &st) != 0 ||
	    !(st.stx_mask & STATX_TYPE) || S_ISREG(st.stx_mode))
		return 0;
	return S_ISDIR(st.stx_mode) ? EISDIR : ENXIO;
}

int ag_report_file_open(struct ag_report_file *file, const char *path, uint32_t pid)
{
	file->n = 0;
	file->error = check_existing(path);
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

static void write_all(struct ag_report_file *file, const char *data, size_t len)
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

void ag_report_file_put(struct ag_report_file *file, const char *data, size_t len)
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

void ag_report_file_drop(struct ag_report_file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	(void)unlink(file->temporary); /* if this fails, the file remains; nothing can be done */
	file->fd = -1;
}

int ag_report_file_finish(struct ag_report_file *file, const char *path)
{
	int fd = file->fd;

	write_all(file, file->data, file->n);
	file->fd = -1;
	if (close(fd) != 0 && file->error == 0)
		file->error = errno;
	if (file->error == 0 && rename(file->temporary, path) != 0)
		file->error = errno;
	if (file->error != 0)
		ag_report_file_drop(file);
	return file->error == 0 ? 0 : -1;
}
