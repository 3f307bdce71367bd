#include "discover/free_memory.h"

#include <fcntl.h>
#include <string.h>

#include "fileio/file_open.h"
#include "fileio/io.h"
#include "discover/cgroup.h"

#define TEXT_MAX 65536

/* Reads the line "MemAvailable: 12345 kB" (Linux 3.14 on). */
static int64_t available(const struct procfs *proc)
{
	static const char key[] = "\nMemAvailable:";
	struct stat st;
	_cleanup_close_ int fd = file_open_regular(proc->fd, "meminfo", 0, &st);
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *line;
	char *end;
	long long kb;

	if (fd < 0 || io_slurp(fd, &text, TEXT_MAX) < 0)
		return -1;
	line = strstr(buf_str(&text), key);
	if (!line)
		return -1;
	line += strlen(key);
	kb = strtoll(line, &end, 10);
	return end == line || kb < 0 || kb > INT64_MAX / 1024 ? -1 : kb * 1024;
}

int64_t free_memory(const struct procfs *proc, pid_t pid)
{
	int64_t bytes = available(proc);
	struct cgroup own;

	cgroup_read(proc, pid, &own);
	if (own.memory_free >= 0 && (bytes < 0 || own.memory_free < bytes))
		return own.memory_free;
	return bytes;
}

void oom_score_raise(void)
{
	static const char most[] = "1000"; /* OOM_SCORE_ADJ_MAX: see proc(5) */
	_cleanup_close_ int file = file_open_path(AT_FDCWD, "/proc/self/oom_score_adj", 0);
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (file >= 0 && fstat(file, &st) == 0)
		fd = file_reopen(file, O_WRONLY, &st);
	if (fd < 0 || write(fd, most, strlen(most)) < 0)
		return; /* best effort */
}
