/* An entry of getdents64(2): struct linux_dirent64 of the kernel, which no header of libc has. */
#ifndef JTOOL_AGENT_UTIL_DIRENT_H
#define JTOOL_AGENT_UTIL_DIRENT_H

#include <stdint.h>

struct ag_dirent {
	uint64_t inode;
	int64_t offset;
	uint16_t len; /* bytes of this entry */
	uint8_t type;
	char name[];
};

#endif
