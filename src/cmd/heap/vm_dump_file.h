/*
 * Writes the JVM's own heap dump (HPROF) to a file of the caller.
 *
 * - Before JDK 17, the JVM writes a file to its file system, and jtool copies the file.
 * - JDK 17 to 21 can write to an existing file, so the JVM writes to a FIFO, and nothing is stored
 *   in its file system.  The JVM is paused until the FIFO has been read, so the pause depends on
 *   the CPU time that jtool gets.  If jtool may use less than one CPU, and there is a directory for
 *   a file, the JVM writes a file instead.
 * - From JDK 22 on, the JVM writes segment files during its pause, and merges them into the FIFO
 *   after the pause.
 *
 * A dump that must be redacted passes through jtool's memory.  If the JVM writes such a dump to a
 * file or to segment files, these files are in memory if there is room.
 */
#ifndef JTOOL_CMD_HEAP_VM_DUMP_FILE_H
#define JTOOL_CMD_HEAP_VM_DUMP_FILE_H

#include "cli/command.h"
#include "fileio/atomic_file.h"
#include "model/hprof/hprof_redact.h"

enum dump_via {
	/*
	 * a FIFO if the JVM can write to one and jtool has the CPU time to read it as fast as the
	 * JVM writes; else a file
	 */
	DUMP_VIA_AUTO,
	DUMP_VIA_FIFO,
	DUMP_VIA_FILE,
};

struct dump_wanted {
	bool all;      /* dump unreachable objects too: run no collection before the dump */
	/* compression level; 0: none; jtool compresses if `redact` is set, else the JVM does */
	unsigned gzip;
	enum hprof_redact redact;
	enum dump_via via;
	/* limit in ms for the time from the dump's first byte to its last byte; 0: no limit */
	unsigned max_pause_ms;
};

/*
 * Writes the dump to `out`, which the caller commits.  Returns 0, or -1 with err set: EXIT_ANSWER
 * if the JVM has refused the request or cannot write the dump as wanted, EXIT_PARTIAL if the dump
 * is incomplete.
 */
int vm_dump_file(const struct ctx *ctx, const struct dump_wanted *wanted, struct atomic_file *out,
		 struct err *err) _must_check_;

#endif
