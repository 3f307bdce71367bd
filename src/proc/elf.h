/*
 * Reads exported symbols: the dynamic symbols of ELF32 and ELF64 files in the native byte order.
 *
 * The file is untrusted.  It is read with pread(2) and never mapped, because its owner may truncate
 * it at any time; offsets are checked against its size, and the sizes of tables are limited.
 */
#ifndef JTOOL_PROC_ELF_H
#define JTOOL_PROC_ELF_H

#include <stdbool.h>

#include "base/util.h"

/*
 * Calls visit() for each exported symbol whose name begins with `prefix`, until visit() returns
 * false.  Returns 0, even if the file has no section headers; -ENOEXEC if the file is not native
 * ELF, -EBADMSG if its tables are inconsistent, -EFBIG if they are too large; or another negative
 * errno.
 */
typedef bool elf_visit(const char *name, void *arg);
int elf_exports(int fd, const char *prefix, elf_visit *visit, void *arg) _must_check_;

#endif
