#include "base/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/xalloc.h"

#define DEPTH_MAX 128
#define TAIL_LEN 18 /* "%-" and 16 digits */

static int cannot_open(const char *path, int error, struct err *err)
{
	return err_set(err, error == ENOTDIR ? EXIT_USAGE : EXIT_PARTIAL,
		       "%s cannot be written to: %s", path, strerror(error));
}

int outdir_open(struct outdir *d, const char *path, struct err *err)
{
	*d = (struct outdir){ .path = path, .guard = OUTGUARD_INIT(-1) };
	d->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0 && errno == ENOENT) {
		if (mkdir(path, 0777) < 0)
			return err_set(err, EXIT_PARTIAL, "%s cannot be made: %s", path,
				       strerror(errno));
		d->made = true;
		d->fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	d->guard.dir_fd = d->fd;
	return d->fd < 0 ? cannot_open(path, errno, err) : 0;
}

void outdir_close(struct outdir *d)
{
	outguard_release(&d->guard);
	util_close_p(&d->fd);
	if (d->made)
		(void)rmdir(d->path); /* it is empty, or somebody else's by now */
}

/* FNV-1a: not against an attacker, who could only have two classes of his own share a file. */
static uint64_t hash(const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* How many bytes at text go into a name as they are; 0: the first one does not. */
static size_t plain_len(const char *text, size_t len, bool first)
{
	size_t n = text_utf8_len(text, len);
	_cleanup_buf_ struct buf shown = BUF_INIT;

	if (n == 0 || strchr("/\\%", *text) || (first && strchr(".-", *text)))
		return 0;
	if (n == 1)
		return *text >= ' ' && *text < 0x7f;
	text_printable(&shown, text, n);
	return shown.len == n ? n : 0;
}

void outdir_add(struct buf *name, const char *text, size_t len, const char *suffix)
{
	const size_t room = NAME_MAX - strlen(suffix);
	size_t start, cut;

	if (name->len > 0)
		buf_addc(name, '/');
	cut = start = name->len;
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = plain_len(text + i, len - i, i == 0);
		if (n > 0)
			buf_add(name, text + i, n);
		else
			buf_addf(name, "%%%02X", (unsigned)(uint8_t)text[i]);
		if (name->len - start <= room - TAIL_LEN)
			cut = name->len;
	}
	if (len == 0)
		buf_adds(name, "%");
	if (name->len - start > room) {
		name->len = cut;
		buf_addf(name, "%%-%016llx", (unsigned long long)hash(text, len));
	}
	buf_adds(name, suffix);
}

char *outdir_path(const struct outdir *d, const char *name)
{
	size_t len = strlen(d->path);

	if (strcmp(d->path, ".") == 0)
		return xstrdup(name);
	return xasprintf("%s%s%s", d->path, len > 0 && d->path[len - 1] == '/' ? "" : "/", name);
}

/* The first component, as outdir_add() makes them: its length, or -EINVAL. */
static int first_component(const char *name, char component[NAME_MAX + 1])
{
	size_t len = strcspn(name, "/");

	if (len == 0 || len > NAME_MAX || *name == '.')
		return -EINVAL;
	memcpy(component, name, len);
	component[len] = '\0';
	return (int)len;
}

static int open_folder(int dir_fd, const char *name)
{
	return openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int enter(int dir_fd, const char *name)
{
	int fd = open_folder(dir_fd, name);

	if (fd < 0 && errno == ENOENT) {
		if (mkdirat(dir_fd, name, 0777) < 0 && errno != EEXIST)
			return -errno;
		fd = open_folder(dir_fd, name);
	}
	return fd < 0 ? -errno : fd;
}

/* The folder that a file is to be in, made where it is missing; last is the file's own name. */
static int walk(const struct outdir *d, const char *name, char last[NAME_MAX + 1])
{
	_cleanup_close_ int fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		int len = first_component(name, last);
		int next;

		if (len < 0)
			return len;
		if (name[len] == '\0')
			return TAKE_FD(fd);
		next = enter(fd, last);
		if (next < 0)
			return next;
		(void)close(fd);
		fd = next;
		name += len + 1;
	}
	return -ENAMETOOLONG;
}

static bool is_in_the_way(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode);
}

/* Is it not the disk's fault, but this name's?  Then why; else NULL. */
static const char *wrong_name(int error)
{
	switch (error) {
	case -ENOTDIR:
	case -ELOOP:
		return "a file or a link is where its folder should be";
	case -ENAMETOOLONG:
		return "its name is too long for the file system";
	case -EINVAL:
	case -EILSEQ:
		return "its name is none that the file system knows";
	default:
		return NULL;
	}
}

static int write_file(struct outdir *d, int dir_fd, const char *name, const char *path,
		      const void *data, size_t len, struct err *err)
{
	struct outfile f;
	int rc;

	if (outfile_open_at(&f, dir_fd, name, &d->guard, path, 0666, err) < 0)
		return -1;
	rc = io_write_all(f.fd, data, len, IO_NO_DEADLINE);
	if (rc < 0)
		(void)outfile_failed(&f, rc, err);
	else
		rc = outfile_commit(&f, NULL, err);
	outfile_release(&f);
	return rc < 0 ? -1 : 0;
}

int outdir_write(struct outdir *d, const char *name, const void *data, size_t len,
		 const char **why, struct err *err)
{
	_cleanup_free_ char *path = outdir_path(d, name);
	char last[NAME_MAX + 1];
	_cleanup_close_ int dir_fd = walk(d, name, last);

	d->made = false; /* a folder may be in it */
	if (dir_fd < 0) {
		*why = wrong_name(dir_fd);
		return *why ? 1 : err_set(err, EXIT_PARTIAL, "%s cannot be written: %s", path,
					  strerror(-dir_fd));
	}
	if (is_in_the_way(dir_fd, last)) {
		*why = "a folder or a link has the name of its file";
		return 1;
	}
	return write_file(d, dir_fd, last, path, data, len, err);
}

bool outdir_folds_case(const struct outdir *d)
{
	char name[] = ".jtool-case.xxxxxxxx", other[sizeof(name)];
	_cleanup_close_ int fd = -1;
	struct stat st;
	bool folds;

	(void)snprintf(name, sizeof(name), ".jtool-case.%08x", arc4random());
	for (size_t i = 0; i < sizeof(name); i++)
		other[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
	fd = openat(d->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	folds = fstatat(d->fd, other, &st, AT_SYMLINK_NOFOLLOW) == 0;
	(void)unlinkat(d->fd, name, 0); /* it was there just now */
	return folds;
}
