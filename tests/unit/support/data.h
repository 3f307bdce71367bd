/* Reads files of tests/data, which were recorded from JVMs. */
#ifndef JTOOL_TESTS_DATA_H
#define JTOOL_TESTS_DATA_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "fileio/io.h"
#include "base/xalloc.h"

static void read_data(const char *name, struct buf *out)
{
	const char *top = getenv("top_srcdir");
	_cleanup_free_ char *path = xasprintf("%s/tests/data/%s", top ? top : ".", name);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(io_slurp(fd, out, 1 << 20), 0);
}

#endif
