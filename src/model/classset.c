#include "model/classset_jar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/xalloc.h"
#include "classfile/read.h"

/* What a machine can be expected to spare. */
#define TOTAL_MAX (1024u << 20)

void classset_release(struct classset *set)
{
	for (size_t i = 0; i < set->n; i++) {
		free(set->files[i].name);
		free(set->files[i].where);
		buf_release(&set->files[i].bytes);
	}
	free(set->files);
	free(set->places);
	*set = (struct classset){ 0 };
}

/* Where a name is in the table, or the free place where it would be: a file's number + 1. */
static size_t *find_place(const struct classset *set, const char *name)
{
	size_t mask = set->n_places - 1;
	size_t i = (size_t)ag_hash(name, strlen(name)) & mask;

	while (set->places[i] && strcmp(set->files[set->places[i] - 1].name, name) != 0)
		i = (i + 1) & mask;
	return &set->places[i];
}

/* At most half of the table is used: a search ends soon. */
static void grow_places(struct classset *set)
{
	if (2 * (set->n + 1) <= set->n_places)
		return;
	free(set->places);
	set->n_places = set->n_places ? 2 * set->n_places : 64;
	set->places = xcalloc(set->n_places, sizeof(*set->places));
	for (size_t i = 0; i < set->n; i++)
		*find_place(set, set->files[i].name) = i + 1;
}

const struct class_file *classset_find(const struct classset *set, const char *name)
{
	size_t i = set->n_places ? *find_place(set, name) : 0;

	return i ? &set->files[i - 1] : NULL;
}

/* What says something about a module or a package, and is no class that the JVM runs. */
static bool is_info(const struct cf_class *class, struct cf_text name)
{
	static const char info[] = "package-info";
	const size_t len = sizeof(info) - 1;

	if (class->access & CF_ACC_MODULE)
		return true;
	return name.len >= len && memcmp(name.data + name.len - len, info, len) == 0 &&
	       (name.len == len || name.data[name.len - len - 1] == '/');
}

/* The class's own name in Java form, NULL in *name for what is left out. */
static const char *read_name(const struct buf *bytes, char **name)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_class class;
	const char *why = cf_open(&class, bytes->data, bytes->len, &mem);
	struct cf_text text;

	*name = NULL;
	if (why)
		return why;
	text = cf_name(&class);
	if (text.len == 0 || memchr(text.data, '\0', text.len) || text.data[0] == '[') {
		why = "it has no name";
	} else if (!is_info(&class, text)) {
		*name = xstrndup(text.data, text.len);
		for (char *p = *name; (p = strchr(p, '/'));)
			*p = '.';
	}
	cf_release(&class);
	return why;
}

int classset_take(struct classset *set, const char *where, struct buf *bytes, struct err *err)
{
	_cleanup_buf_ struct buf own = *bytes;
	_cleanup_free_ char *name = NULL;
	const char *why;

	*bytes = (struct buf)BUF_INIT;
	why = read_name(&own, &name);
	if (why)
		return err_set(err, EXIT_ANSWER, "%s is no class file: %s", where, why);
	if (!name)
		return 0;
	set->n_seen++;
	if (classset_find(set, name) || (set->wants && !set->wants(name, set->arg)))
		return 0;
	if (own.len > TOTAL_MAX - set->total)
		return err_set(err, EXIT_USAGE, "%s: the class files are more than %u MB: give "
						"fewer at a time", where, TOTAL_MAX >> 20);
	set->total += own.len;
	grow_places(set);
	*find_place(set, name) = set->n + 1;
	set->files = xgrow(set->files, set->n, &set->cap, sizeof(*set->files));
	set->files[set->n++] = (struct class_file){
		.name = TAKE_PTR(name), .where = xstrdup(where), .bytes = own
	};
	own = (struct buf)BUF_INIT;
	return 0;
}

/* A descriptor of a regular file: a FIFO would keep us waiting. */
static int open_file(const char *path, struct stat *st, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, st) < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
	if (!S_ISREG(st->st_mode))
		return err_set(err, EXIT_USAGE, "%s is no regular file", path);
	return TAKE_FD(fd);
}

static int add_open_class(struct classset *set, const char *path, int fd, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	int rc = io_slurp(fd, &bytes, CLASSSET_CLASS_MAX);

	if (rc < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", path, strerror(-rc));
	return classset_take(set, path, &bytes, err);
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

static int add_folder(struct classset *set, const char *path, const struct folder *up,
		      struct err *err);

static int add_name(struct classset *set, const char *path, const struct folder *folder,
		    struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (stat(path, &st) < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return add_folder(set, path, folder, err);
	if (!is_class_name(path))
		return 0;
	fd = open_file(path, &st, err);
	return fd < 0 ? -1 : add_open_class(set, path, fd, err);
}

/* Links are followed, as javac and the JVM do; each folder at most once on the way to another. */
static int add_folder(struct classset *set, const char *path, const struct folder *up,
		      struct err *err)
{
	struct folder folder = { .up = up };
	const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
	struct dirent **names;
	struct stat st;
	int rc = 0, n;

	if (stat(path, &st) < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
	for (; up; up = up->up) {
		if (up->dev == st.st_dev && up->ino == st.st_ino)
			return err_set(err, EXIT_USAGE, "%s is a link to a directory that it is in",
				       path);
	}
	folder.dev = st.st_dev;
	folder.ino = st.st_ino;
	n = scandir(path, &names, NULL, alphasort); /* so that the first is always the same */
	if (n < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
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

static int add_file(struct classset *set, const char *path, unsigned release, struct err *err)
{
	static const uint8_t magic[4] = { 0xca, 0xfe, 0xba, 0xbe };
	uint8_t first[4] = { 0 };
	size_t n = set->n;
	struct stat st;
	_cleanup_close_ int fd = open_file(path, &st, err);

	if (fd < 0)
		return -1;
	if (pread(fd, first, sizeof(first), 0) < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
	if (memcmp(first, magic, sizeof(magic)) != 0 && !is_class_name(path))
		return classset_add_jar(set, path, fd, (uint64_t)st.st_size, release, err);
	if (add_open_class(set, path, fd, err) < 0)
		return -1;
	if (set->n > n)
		set->files[n].named = true;
	return 0;
}

int classset_add(struct classset *set, const char *path, unsigned release, struct err *err)
{
	struct stat st;
	int rc;

	if (stat(path, &st) < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
	set->n_seen = 0;
	rc = S_ISDIR(st.st_mode) ? add_folder(set, path, NULL, err) :
				   add_file(set, path, release, err);
	if (rc == 0 && set->n_seen == 0)
		return err_set(err, EXIT_USAGE, "%s holds no class files", path);
	return rc;
}
