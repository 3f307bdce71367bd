/* Adds the class files of a path: a class file, a directory or a jar. */
#include "model/class/class_set_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fileio/input_file.h"
#include "fileio/io.h"
#include "base/xalloc.h"

static int add_open_class(struct class_set *set, const char *path, int fd, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	int rc = io_slurp(fd, &bytes, CLASS_SET_CLASS_MAX);

	if (rc < 0)
		return input_file_failed(path, rc, err);
	return class_set_take(set, path, &bytes, err);
}

static bool is_class_name(const char *path)
{
	size_t len = strlen(path);

	return len > 6 && strcmp(path + len - 6, ".class") == 0;
}

struct folder {
	const struct folder *up;
	dev_t dev;
	ino_t ino;
};

static int add_folder(struct class_set *set, const char *path, const struct folder *up,
		      struct err *err);

static int add_name(struct class_set *set, const char *path, const struct folder *folder,
		    struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (stat(path, &st) < 0)
		return input_file_failed(path, -errno, err);
	if (S_ISDIR(st.st_mode))
		return add_folder(set, path, folder, err);
	if (!is_class_name(path))
		return 0;
	fd = input_file_open(path, INPUT_FILE_REGULAR, &st, err);
	return fd < 0 ? -1 : add_open_class(set, path, fd, err);
}

/*
 * Adds the class files below a folder.  Follows links, as javac and the JVM do, but rejects a link
 * to a folder that contains the link.
 */
static int add_folder(struct class_set *set, const char *path, const struct folder *up,
		      struct err *err)
{
	struct folder folder = { .up = up };
	const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
	struct dirent **names;
	struct stat st;
	int rc = 0, n;

	if (stat(path, &st) < 0)
		return input_file_failed(path, -errno, err);
	for (; up; up = up->up) {
		if (up->dev == st.st_dev && up->ino == st.st_ino)
			return err_set(err, EXIT_USAGE,
				       "'%s' is a link to a directory that contains it; remove the "
				       "link", path);
	}
	folder.dev = st.st_dev;
	folder.ino = st.st_ino;
	/* Sort by name, because if several files contain the same class, the first file is used. */
	n = scandir(path, &names, NULL, alphasort);
	if (n < 0)
		return input_file_failed(path, -errno, err);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (rc == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			_cleanup_free_ char *below = xasprintf("%s%s%s", path, slash, name);

			rc = add_name(set, below, &folder, err);
		}
		free(names[i]);
	}
	free(names);
	return rc;
}

static int add_file(struct class_set *set, const char *path, unsigned release, struct err *err)
{
	static const uint8_t magic[4] = { 0xca, 0xfe, 0xba, 0xbe };
	uint8_t first[4] = { 0 };
	size_t n = set->n;
	struct stat st;
	_cleanup_close_ int fd = input_file_open(path, INPUT_FILE_REGULAR, &st, err);

	if (fd < 0)
		return -1;
	if (pread(fd, first, sizeof(first), 0) < 0)
		return input_file_failed(path, -errno, err);
	if (memcmp(first, magic, sizeof(magic)) != 0 && !is_class_name(path))
		return class_set_add_jar(set, path, fd, (uint64_t)st.st_size, release, err);
	if (add_open_class(set, path, fd, err) < 0)
		return -1;
	if (set->n > n)
		set->files[n].named = true;
	return 0;
}

int class_set_add(struct class_set *set, const char *path, unsigned release, struct err *err)
{
	struct stat st;
	int rc;

	if (stat(path, &st) < 0)
		return input_file_failed(path, -errno, err);
	set->n_seen = 0;
	rc = S_ISDIR(st.st_mode) ? add_folder(set, path, NULL, err) :
				   add_file(set, path, release, err);
	if (rc == 0 && set->n_seen == 0)
		return err_set(err, EXIT_USAGE, "'%s' contains no class files", path);
	return rc;
}
