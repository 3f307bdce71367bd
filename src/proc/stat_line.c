#include "proc/stat_line.h"

#include <errno.h>
#include <string.h>

#define PF_EXITING 0x4 /* include/linux/sched.h, which is not exported to user space */
#define FIELDS 24 /* number of the last field that is used */

/* Field numbers as in proc_pid_stat(5), from 1. */
enum {
	STATE = 3, PARENT = 4, FLAGS = 9, USER = 14, SYSTEM = 15, THREADS = 20, START = 22,
	RESIDENT = 24,
};

int stat_line_parse(const char *text, struct stat_line *out)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')'), *at = close;
	unsigned long long fields[FIELDS + 1] = { 0 };
	long hz = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
	size_t len;

	if (!open || !close || close < open || close[1] != ' ' || !close[2] || hz <= 0 || page <= 0)
		return -EBADMSG;
	for (int field = STATE; field <= FIELDS; field++) {
		at = strchr(at + 1, ' ');
		if (!at)
			return -EBADMSG;
		fields[field] = strtoull(at + 1, NULL, 10); /* the state, a letter, becomes 0 */
	}
	len = (size_t)(close - open) - 1;
	if (len >= sizeof(out->name))
		len = sizeof(out->name) - 1;
	memcpy(out->name, open + 1, len);
	out->name[len] = '\0';
	out->state = close[2];
	out->exiting = fields[FLAGS] & PF_EXITING;
	out->parent = (pid_t)fields[PARENT];
	out->user_s = (double)fields[USER] / (double)hz;
	out->system_s = (double)fields[SYSTEM] / (double)hz;
	out->cpu_s = out->user_s + out->system_s;
	out->threads = (unsigned)fields[THREADS];
	out->start_ticks = fields[START];
	out->resident = fields[RESIDENT] > (unsigned long long)(INT64_MAX / page) ?
				-1 : (int64_t)fields[RESIDENT] * page;
	return 0;
}
