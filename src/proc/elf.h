/*
 * What an ELF file exports: its dynamic symbols, of 32 and 64 bits, in this machine's byte order.
 *
 * The file is hostile: it is read with pread(2) and never mapped, for whoever owns it may cut it
 * at any time; every offset is checked against its size, and no table is read beyond a bound.
 */
#ifndef JTOOL_PROC_ELF_H
#define JTOOL_PROC_ELF_H

#include <stdbool.h>

#include "base/util.h"

/*
 * Call visit() with each symbol that the file defines for others and whose name begins with
 * PREFIX, until it returns false or they end.  0; -ENOEXEC when it is no such file; -EBADMSG
 * when its tables make no sense, -EFBIG when they are too large, or another negative errno.
 * A file without section headers, which nothing but a size-saving linker leaves out, shows none.
 */
typedef bool elf_visit(const char *name, void *arg);
int elf_exports(int fd, const char *prefix, elf_visit *visit, void *arg) _must_check_;

#endif
