/*
 * Runs diagnostic commands that read or write a file of the caller, such as Thread.dump_to_file
 * {threads.txt} (model/vm/dcmd_file.h).
 */
#ifndef JTOOL_CMD_VM_JCMD_FILE_H
#define JTOOL_CMD_VM_JCMD_FILE_H

#include "cli/command.h"
#include "model/vm/dcmd_file.h"

/*
 * Runs the diagnostic command `line`.  If the JVM writes the file, it writes a staged file, which
 * is copied to the caller's path and removed from the target; `force` permits replacing an existing
 * file of the caller.  If the JVM reads the file, a copy of the caller's file is staged first.  The
 * answer is printed with the caller's path in the place of the staged path.
 */
int jcmd_file_run(const struct ctx *ctx, const char *line, const struct dcmd_file *file,
		  bool force, struct err *err) _must_check_;

#endif
