/*
 * Writes the JVM's own heap dump (HPROF) to a file of the caller.
 *
 * The dump passes through a FIFO if the JVM can write to an existing file (JDK 17 and later):
 * nothing is stored in the target's file system, and the paused JVM writes as fast as to a file of
 * its own.  Other JVMs write a file, which is copied.
 *
 * A JVM 17 to 21 is paused until the FIFO has been read, so its pause depends on the CPU time that
 * jtool gets.  With less than one CPU, jtool lets the JVM write a file, if there is a directory for
 * it.  A JVM 22 or later writes files in its pause and merges them into the FIFO after it.
 *
 * A dump that is to be redacted passes through jtool's memory instead.  Files of the JVM are in
 * memory, too, if there is room.
 */
#ifndef JTOOL_CMD_HEAP_VM_DUMP_FILE_H
#define JTOOL_CMD_HEAP_VM_DUMP_FILE_H

#include "cli/command.h"
#include "fileio/atomic_file.h"
#include "model/hprof/hprof_redact.h"

enum dump_via {
	DUMP_VIA_AUTO, /* a FIFO, if the JVM can and jtool has the CPU time to read it at once */
	DUMP_VIA_FIFO,
	DUMP_VIA_FILE,
};

struct dump_wanted {
	bool all;      /* also dump unreachable objects: do not run a GC first */
	unsigned gzip; /* compression level; 0: not compressed; by jtool if redacted */
	enum hprof_redact redact;
	enum dump_via via;
	unsigned max_pause_ms; /* from the first byte to the last; 0: no limit */
};

/*
 * Returns 0 when `out` has the complete dump and is not committed, or -1 with err set:
 * EXIT_ANSWER if the JVM refused or cannot dump like this, EXIT_PARTIAL if the dump is incomplete.
 */
int vm_dump_file(const struct ctx *ctx, const struct dump_wanted *wanted, struct atomic_file *out,
		 struct err *err) _must_check_;

#endif
