#include "cmd/heap/dump_input.h"

#include <errno.h>
#include <string.h>

#include <zlib.h>

#include "base/xalloc.h"
#include "fileio/input_file.h"

#define CHUNK (256 * 1024)

/* Opens the file with zlib, which passes data through if it is not compressed. */
static gzFile open_file(const char *path, struct err *err)
{
	struct stat st;
	int fd = input_file_open(path, INPUT_FILE_REGULAR, &st, err);
	gzFile file;

	if (fd < 0)
		return NULL;
	file = gzdopen(fd, "rb");
	if (!file)
		xalloc_die();
	(void)gzbuffer(file, CHUNK);
	return file;
}

/*
 * Sets the error for a file that cannot be read.  Does not use the text of gzerror(), because that
 * text begins with a file name that zlib invents.
 */
static int file_failed(const char *path, int error, struct err *err)
{
	const char *why = error == Z_ERRNO ? strerror(errno)
			: error == Z_BUF_ERROR ? "it is cut off"
					       : "its compressed data is damaged";

	return err_set(err, EXIT_PARTIAL,
		       "cannot read '%s' to its end: %s; copy the file or dump the heap again",
		       path, why);
}

int dump_input_read(const char *path, dump_chunk_fn *take, void *arg, struct err *err)
{
	_cleanup_free_ uint8_t *chunk = xmalloc(CHUNK);
	gzFile file = open_file(path, err);
	int rc = 0, n = 0, error = Z_OK;

	if (!file)
		return -1;
	while (rc == 0 && (n = gzread(file, chunk, CHUNK)) > 0)
		rc = take(arg, chunk, (size_t)n, err);
	if (rc < 0)
		err_prefix(err, "%s", path);
	if (rc == 0)
		/* gzread() does not report that the file ends too early, but gzerror() does. */
		(void)gzerror(file, &error);
	if (error != Z_OK)
		rc = file_failed(path, error, err);
	(void)gzclose_r(file); /* read-only: nothing to flush */
	return rc < 0 ? -1 : 0;
}
