#include "proc/clock_source.h"

#include <fcntl.h>
#include <string.h>

#include "base/util.h"
#include "fileio/file_open.h"
#include "fileio/io.h"

#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define NAME "tsc\n"

bool clock_source_is_counter(void)
{
	char name[32];
	struct stat st;
	ssize_t n;
	_cleanup_close_ int fd = file_open_regular(AT_FDCWD, SOURCE, 0, &st);

	if (fd < 0)
		return false;
	n = io_read_full(fd, name, sizeof(name));
	return n == (ssize_t)strlen(NAME) && memcmp(name, NAME, strlen(NAME)) == 0;
}
