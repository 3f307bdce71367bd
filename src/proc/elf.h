/*
 * Reads ELF32 and ELF64 files in the native byte order: the exported symbols, which are the dynamic
 * ones, and the build id.
 *
 * The file is untrusted.  It is read with pread(2) and never mapped, because its owner may truncate
 * it at any time; offsets are checked against its size, and the sizes of tables are limited.
 */
#ifndef JTOOL_PROC_ELF_H
#define JTOOL_PROC_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/*
 * Calls visit() for each exported symbol whose name begins with `prefix`, until visit() returns
 * false.  Returns 0, even if the file has no section headers; -ENOEXEC if the file is not native
 * ELF, -EBADMSG if its tables are inconsistent, -EFBIG if they are too large; or another negative
 * errno.
 */
typedef bool elf_visit(const char *name, void *arg);
int elf_exports(int fd, const char *prefix, elf_visit *visit, void *arg) _must_check_;

#define ELF_BUILD_ID_MAX 64 /* bytes; SHA-1, which linkers use, has 20 */

/*
 * Reads the build id, from the first note NT_GNU_BUILD_ID of a program header PT_NOTE.  Returns its
 * length; 0 if the file has no build id or one of more than ELF_BUILD_ID_MAX bytes; or a negative
 * errno, as elf_exports() does.
 */
int elf_build_id(int fd, uint8_t id[static ELF_BUILD_ID_MAX]) _must_check_;

#endif
