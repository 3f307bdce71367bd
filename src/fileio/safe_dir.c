#include "fileio/safe_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fileio/io.h"
#include "fileio/atomic_file.h"
#include "fileio/file_open.h"
#include "base/printable.h"
#include "base/xalloc.h"

#define DEPTH_MAX 128
#define TAIL_LEN 18 /* "%-" and 16 hexadecimal digits */

static int cannot_open(const char *path, int error, struct err *err)
{
	return err_set(err, error == -ENOTDIR ? EXIT_USAGE : EXIT_PARTIAL,
		       "cannot write to directory '%s': %s; choose another one", path,
		       caller_path_error(error));
}

static int create(struct safe_dir *d)
{
	int rc = caller_path_open(&d->place, d->path);

	if (rc == 0 && mkdirat(d->place.dir_fd, d->place.name, 0777) < 0)
		rc = -errno;
	d->created = rc == 0;
	return rc;
}

int safe_dir_open(struct safe_dir *d, const char *path, struct err *err)
{
	int rc;

	*d = (struct safe_dir){
		.path = path,
		.place = CALLER_PATH_INIT,
		.reaper = TMP_REAPER_INIT(-1),
	};
	d->fd = caller_path_open_dir(path);
	if (d->fd == -ENOENT) {
		rc = create(d);
		if (rc < 0) {
			caller_path_release(&d->place);
			return err_set(err, EXIT_PARTIAL,
				       "cannot create directory '%s': %s; choose another one", path,
				       caller_path_error(rc));
		}
		d->fd = file_open_path(d->place.dir_fd, d->place.name, O_DIRECTORY | O_NOFOLLOW);
	}
	d->reaper.dir_fd = rc = d->fd;
	if (rc >= 0)
		return 0;
	safe_dir_close(d);
	return cannot_open(path, rc, err);
}

void safe_dir_close(struct safe_dir *d)
{
	tmp_reaper_release(&d->reaper);
	util_close_p(&d->fd);
	if (d->created) /* rmdir(2) fails if another process has put files there */
		(void)unlinkat(d->place.dir_fd, d->place.name, AT_REMOVEDIR);
	caller_path_release(&d->place);
}

/*
 * Returns the FNV-1a hash of a text, which safe_dir_add() puts into a truncated name.  A target can
 * choose class names with equal hashes, but such a collision concerns only the files of the
 * target's own classes.
 */
static uint64_t hash(const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return h;
}

/*
 * Returns the length of the character at `text` if a component of a name may contain it unescaped,
 * else 0.  `first`: it is the first character of the component.
 */
static size_t plain_len(const char *text, size_t len, bool first)
{
	size_t n = utf8_sequence_len(text, len);
	_cleanup_buf_ struct buf shown = BUF_INIT;

	if (n == 0 || strchr("/\\%", *text) || (first && strchr(".-", *text)))
		return 0;
	if (n == 1)
		return *text >= ' ' && *text < 0x7f;
	printable_add(&shown, text, n);
	return shown.len == n ? n : 0;
}

void safe_dir_add(struct buf *name, const char *text, size_t len, const char *suffix)
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

char *safe_dir_path(const struct safe_dir *d, const char *name)
{
	size_t len = strlen(d->path);

	if (strcmp(d->path, ".") == 0)
		return xstrdup(name);
	return xasprintf("%s%s%s", d->path, len > 0 && d->path[len - 1] == '/' ? "" : "/", name);
}

/*
 * Copies the first component of a name to `component`.  Returns its length in bytes, or -EINVAL if
 * the component is unsafe.
 */
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
	return file_open_path(dir_fd, name, O_DIRECTORY | O_NOFOLLOW);
}

static int enter(int dir_fd, const char *name)
{
	int fd = open_folder(dir_fd, name);

	if (fd == -ENOENT) {
		if (mkdirat(dir_fd, name, 0777) < 0 && errno != EEXIST)
			return -errno;
		fd = open_folder(dir_fd, name);
	}
	return fd;
}

/*
 * Creates the missing folders of a file, and sets `last` to the file's name.  Returns a descriptor
 * of its folder, or a negative errno.
 */
static int walk(const struct safe_dir *d, const char *name, char last[NAME_MAX + 1])
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

/*
 * Returns the reason if the error concerns only this name, or NULL if other files would fail for
 * the same reason.
 */
static const char *wrong_name(int error)
{
	switch (error) {
	case -ENOTDIR:
	case -ELOOP:
		return "a file or a link is in the place of its folder";
	case -ENAMETOOLONG:
		return "its name is too long for the file system";
	case -EINVAL:
	case -EILSEQ:
		return "the file system does not accept its name";
	default:
		return NULL;
	}
}

static int write_file(struct safe_dir *d, int dir_fd, const char *name, const char *path,
		      const void *data, size_t len, struct err *err)
{
	struct atomic_file f;
	int rc;

	if (atomic_file_open_at(&f, dir_fd, name, &d->reaper, path, 0666, err) < 0)
		return -1;
	rc = io_write_all(f.fd, data, len, DEADLINE_NEVER);
	if (rc < 0)
		(void)atomic_file_failed(&f, rc, err);
	else
		rc = atomic_file_commit(&f, NULL, err);
	atomic_file_release(&f);
	return rc < 0 ? -1 : 0;
}

int safe_dir_write(struct safe_dir *d, const char *name, const void *data, size_t len,
		   const char **why, struct err *err)
{
	_cleanup_free_ char *path = safe_dir_path(d, name);
	char last[NAME_MAX + 1];
	_cleanup_close_ int dir_fd = walk(d, name, last);

	d->created = false; /* do not remove the directory: walk() may have put a folder there */
	if (dir_fd < 0) {
		*why = wrong_name(dir_fd);
		return *why ? 1 : err_set(err, EXIT_PARTIAL, "cannot write '%s': %s", path,
					  strerror(-dir_fd));
	}
	if (is_in_the_way(dir_fd, last)) {
		*why = "a folder or a link has the name of its file";
		return 1;
	}
	return write_file(d, dir_fd, last, path, data, len, err);
}

bool safe_dir_folds_case(const struct safe_dir *d)
{
	char name[] = ".jtool-case.xxxxxxxx", other[sizeof(name)];
	_cleanup_close_ int fd = -1;
	struct stat st;
	bool folds;

	(void)snprintf(name, sizeof(name), ".jtool-case.%08x", arc4random());
	for (size_t i = 0; i < sizeof(name); i++)
		other[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
	fd = file_create(d->fd, name, 0600);
	if (fd < 0)
		return false;
	folds = fstatat(d->fd, other, &st, AT_SYMLINK_NOFOLLOW) == 0;
	(void)unlinkat(d->fd, name, 0); /* on failure, the empty file remains */
	return folds;
}
