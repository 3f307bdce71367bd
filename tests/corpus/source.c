#include "corpus/source.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "archive/zip.h"

/* Larger than every class file in a corpus. */
#define CLASS_MAX (16u << 20)

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && memcmp(text + len - n, end, n) == 0;
}

bool corpus_is_class(const char *path, size_t len)
{
	return ends_with(path, len, ".class") && !ends_with(path, len, "module-info.class") &&
	       !ends_with(path, len, "package-info.class");
}

/* Returns "rt" for "/usr/lib/rt.jar". */
static char *set_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t len = strlen(base);

	return xstrndup(base, ends_with(base, len, ".jar") ? len - 4 : len);
}

static const char *read_zip(const char *path, int fd, size_t len, corpus_take *take, void *arg)
{
	_cleanup_free_ char *set = set_of(path);
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct zip zip;
	struct zip_entry entry;
	const char *why = zip_open(&zip, &(struct zip_bytes){ .fd = fd, .len = len });

	if (why)
		return why;
	for (size_t at = 0; !why && zip_next(&zip, &at, &entry);) {
		_cleanup_free_ char *name = xstrndup(entry.name, entry.name_len);

		if (!corpus_is_class(entry.name, entry.name_len))
			continue;
		buf_reset(&bytes);
		why = zip_read(&zip, &entry, CLASS_MAX, &bytes);
		if (!why)
			take(arg, &(struct corpus_file){ set, name,
							 (const uint8_t *)bytes.data, bytes.len });
	}
	zip_release(&zip);
	return why;
}

/* Reads a file that is not a jar: a class file with this name, or an image. */
static const char *read_mapped(const char *set, const char *name, int fd, size_t len,
			       corpus_take *take, void *arg)
{
	const char *why = NULL;
	void *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

	if (data == MAP_FAILED)
		return strerror(errno);
	if (corpus_is_class(name, strlen(name)))
		take(arg, &(struct corpus_file){ set, name, data, len });
	else
		why = corpus_read_image(data, len, take, arg);
	(void)munmap(data, len); /* cannot fail for a valid mapping */
	return why;
}

/*
 * Reads a file.  If `set` is NULL, the set is derived from the path.  `name` is the name of a class
 * file within its set.
 */
static const char *read_file(const char *set, const char *path, const char *name, corpus_take *take,
			     void *arg)
{
	_cleanup_free_ char *own = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *why;
	struct stat st;

	if (fd < 0)
		return strerror(errno);
	if (!set)
		set = own = set_of(path);
	if (fstat(fd, &st) < 0)
		why = strerror(errno);
	else if (ends_with(path, strlen(path), ".jar"))
		why = read_zip(path, fd, (size_t)st.st_size, take, arg);
	else
		why = read_mapped(set, name, fd, (size_t)st.st_size, take, arg);
	close(fd);
	return why;
}

static const char *read_directory(const char *path, corpus_take *take, void *arg)
{
	_cleanup_free_ char *set = set_of(path), *copy = xstrdup(path);
	FTS *fts = fts_open((char *[]){ copy, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const char *why = NULL;
	FTSENT *entry;

	if (!fts)
		return strerror(errno);
	while (!why && (entry = fts_read(fts))) {
		const char *name = entry->fts_path + strlen(path);

		while (*name == '/')
			name++;
		if (entry->fts_info == FTS_F && corpus_is_class(name, strlen(name)))
			why = read_file(set, entry->fts_path, name, take, arg);
	}
	(void)fts_close(fts); /* read-only, nothing to flush */
	return why;
}

const char *corpus_read(const char *path, corpus_take *take, void *arg)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (stat(path, &st) < 0)
		return strerror(errno);
	if (S_ISDIR(st.st_mode))
		return read_directory(path, take, arg);
	return read_file(NULL, path, slash ? slash + 1 : path, take, arg);
}
