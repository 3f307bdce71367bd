/* Parses /proc/PID/stat and /proc/PID/task/TID/stat, see proc_pid_stat(5).  Does no I/O. */
#ifndef JTOOL_PROC_STAT_LINE_H
#define JTOOL_PROC_STAT_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

struct stat_line {
	char name[16];        /* name of the thread, cut to 15 bytes */
	char state;           /* R S D T t Z X … */
	bool exiting;         /* the process or thread is exiting */
	pid_t parent;         /* pid of the parent process */
	/* CPU times in seconds, cpu_s is their sum; the kernel's resolution is often 10 ms */
	double user_s, system_s, cpu_s;
	unsigned threads;     /* number of threads of the process */
	uint64_t start_ticks; /* start time, in clock ticks since boot */
	int64_t resident;     /* resident memory of the process in bytes */
};

/* Parses `text` into *out.  Returns 0, or -EBADMSG if the text is incomplete or malformed. */
int stat_line_parse(const char *text, struct stat_line *out) _must_check_;

#endif
