/*
 * Writes the JVM's own heap dump (HPROF) to a file of the caller.
 *
 * The dump passes through a FIFO if the JVM can write to an existing file (JDK 17 and later):
 * nothing is stored in the target's file system, and the paused JVM writes as fast as to a file of
 * its own.  Other JVMs write a file, which is copied.
 */
#ifndef JTOOL_CMD_DUMP_TO_FILE_H
#define JTOOL_CMD_DUMP_TO_FILE_H

#include "cli/command.h"
#include "fileio/atomic_file.h"

struct dump_wanted {
	bool all;      /* also dump unreachable objects: do not run a GC first */
	unsigned gzip; /* compression level; 0: not compressed */
};

/*
 * Returns 0 when `out` has the complete dump and is not committed, or -1 with err set:
 * EXIT_ANSWER if the JVM refused or cannot dump, EXIT_PARTIAL if the dump is not complete.
 */
int dump_to_file(const struct ctx *ctx, const struct dump_wanted *wanted, struct atomic_file *out,
		 struct err *err) _must_check_;

#endif
