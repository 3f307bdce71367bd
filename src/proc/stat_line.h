/* Parses /proc/PID/stat and /proc/PID/task/TID/stat, see proc_pid_stat(5).  Pure. */
#ifndef JTOOL_PROC_STAT_LINE_H
#define JTOOL_PROC_STAT_LINE_H

#include <stdint.h>

#include "base/util.h"

struct stat_line {
	char name[16];        /* comm, cut to 15 bytes */
	char state;           /* R S D T t Z X … */
	double cpu_s;         /* user and system time, with the kernel's resolution, often 10 ms */
	unsigned threads;     /* of the process */
	uint64_t start_ticks; /* start time, in clock ticks since boot */
	int64_t resident;     /* bytes, of the process */
};

/* Returns 0, or -EBADMSG if the text is incomplete or malformed. */
int stat_line_parse(const char *text, struct stat_line *out) _must_check_;

#endif
