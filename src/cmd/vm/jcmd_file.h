/*
 * Runs diagnostic commands that read or write a file of the caller, such as Thread.dump_to_file
 * {threads.txt} (model/vm/dcmd_file.h).
 */
#ifndef JTOOL_CMD_VM_JCMD_FILE_H
#define JTOOL_CMD_VM_JCMD_FILE_H

#include "cli/command.h"
#include "model/vm/dcmd_file.h"

/*
 * Runs the diagnostic command `line`, and prints the JVM's answer.
 * - If the command writes the file: the JVM writes a staged file, which jtool copies to the
 *   caller's path and removes from the target.  `force` permits replacing an existing file of the
 *   caller.
 * - If the command reads the file: jtool first stages a copy of the caller's file.
 * In the printed answer, the caller's path replaces the path of the staged file.  Returns 0, or -1
 * with err set.
 */
int jcmd_file_run(const struct ctx *ctx, const char *line, const struct dcmd_file *file,
		  bool force, struct err *err) _must_check_;

#endif
