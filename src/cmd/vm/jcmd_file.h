/* jcmd with a file of the caller: Thread.dump_to_file {threads.txt} (model/vm/dcmd_file.h). */
#ifndef JTOOL_CMD_VM_JCMD_FILE_H
#define JTOOL_CMD_VM_JCMD_FILE_H

#include "cli/command.h"
#include "model/vm/dcmd_file.h"

/*
 * Runs the command.  A file that the JVM writes is staged, copied to the caller's path, and removed
 * from the target; `force` replaces a file.  A file that the JVM reads is staged before.  The
 * answer is shown with the caller's path instead of the staged one.
 */
int jcmd_file_run(const struct ctx *ctx, const char *line, const struct dcmd_file *file,
		  bool force, struct err *err) _must_check_;

#endif
