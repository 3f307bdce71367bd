/*
 * Finds the file that a diagnostic command names in braces.  The path in braces is valid for
 * jtool's caller, not in the root of the JVM.  Examples: "Thread.dump_to_file {threads.txt}",
 * "JFR.dump name=1 filename={app.jfr}".
 *
 * An argument, or the value of an argument, names such a file if it begins with '{' and ends with
 * '}'.  A quoted argument ("{x}") is passed to the JVM unchanged.
 */
#ifndef JTOOL_MODEL_VM_DCMD_FILE_H
#define JTOOL_MODEL_VM_DCMD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct dcmd_file {
	size_t at, len; /* position of "{FILE}" in the line; len 0: the line names no such file */
	char *path;     /* FILE; owned */
	bool is_input;  /* true: the JVM reads the file; false: the JVM writes it */
	bool is_heap;   /* the file will be about as large as the heap */
	uint64_t room;  /* bytes that must be free for the file; 0 (unknown) if is_heap is set */
};

/*
 * Finds "{FILE}" in the line of a diagnostic command, and sets *file.  Returns 0, even if the line
 * has none; or -1 with err set (EXIT_USAGE) in one of these cases: the line has two; the command
 * uses no file there; the JVM would still use the file after the end of the command.  Release *file
 * also after an error.
 */
int dcmd_file_find(const char *line, struct dcmd_file *file, struct err *err) _must_check_;
void dcmd_file_release(struct dcmd_file *file);

/*
 * Appends the line with `path` in the place of "{FILE}".  `path` must have no quotes and no line
 * end.
 */
void dcmd_file_replace(struct buf *out, const char *line, const struct dcmd_file *file,
		       const char *path);

#endif
