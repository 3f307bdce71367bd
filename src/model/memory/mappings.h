/* The mappings of a process, from the text of /proc/PID/smaps.  Does no I/O. */
#ifndef JTOOL_MODEL_MEMORY_MAPPINGS_H
#define JTOOL_MODEL_MEMORY_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

struct mapping {
	uint64_t start, end;
	/*
	 * path of the file, without " (deleted)"; or a name such as "[heap]"; NULL: anonymous
	 * memory
	 */
	char *path;
	int64_t resident, swapped; /* sizes of the resident and of the swapped pages, in bytes */
	/*
	 * size in bytes of the resident pages that belong to no file; without swap, the kernel
	 * cannot reclaim these pages
	 */
	int64_t anonymous;
	bool read, write, exec, shared;
	bool noreserve; /* "nr" in VmFlags: the memory was mapped with MAP_NORESERVE */
	bool no_huge;   /* "nh" in VmFlags: Linux 6.7 and later set it for MAP_STACK */
};

struct mappings {
	struct mapping *list; /* in ascending order of addresses */
	size_t n, cap;
};

/*
 * Parses the text into `m`, which must be empty.  Returns 0, or -EBADMSG if the text is malformed,
 * truncated or not sorted.  Release `m` also after an error.
 */
int mappings_parse(struct mappings *m, const char *text, size_t len) _must_check_;
void mappings_release(struct mappings *m);

#endif
