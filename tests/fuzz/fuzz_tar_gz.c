/* Reads archives: files from untrusted sources. */
#include <unistd.h>

#include "fileio/io.h"
#include "archive/tar_gz.h"

#define FILE_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = io_unnamed_file();
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (fd < 0 || io_write_all(fd, data, size, DEADLINE_NEVER) < 0)
		return 0;
	(void)!tar_gz_read(fd, "threads-1.txt", &out, FILE_MAX);
	if (out.len > FILE_MAX)
		__builtin_trap();
	return 0;
}
