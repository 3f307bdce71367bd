/* Reads the symbols and the build id of a file that a target has mapped. */
#define _GNU_SOURCE /* memfd_create() */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "proc/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool visit(const char *name, void *arg)
{
	*(size_t *)arg += strlen(name);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_close_ int fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t sum = 0;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		return 0;
	if (elf_exports(fd, "Agent_On", visit, &sum) == 0 && sum > len * len)
		__builtin_trap(); /* more symbols, or longer names, than bytes */
	if (elf_build_id(fd, id) > (int)sizeof(id))
		__builtin_trap();
	return 0;
}
