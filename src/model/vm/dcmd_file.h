/*
 * Files of the caller in the line of a diagnostic command: "Thread.dump_to_file {threads.txt}",
 * "JFR.dump name=1 filename={app.jfr}".
 *
 * An argument, or the value of one, is such a file if it begins with '{' and ends with '}'.  A
 * quoted argument ("{x}") is passed to the JVM unchanged.
 */
#ifndef JTOOL_MODEL_VM_DCMD_FILE_H
#define JTOOL_MODEL_VM_DCMD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct dcmd_file {
	size_t at, len; /* "{FILE}" in the line; len 0: the line has no such file */
	char *path;     /* without the braces; owned */
	bool is_input;  /* the JVM reads the file; else it writes it */
	bool is_heap;   /* about as large as the heap */
	uint64_t room;  /* bytes that the file may take, unless is_heap */
};

/*
 * Sets *file.  Returns -1 with err set (EXIT_USAGE) if it has two files, or if the command is not
 * one that reads or writes a file while it runs.  Release *file in any case.
 */
int dcmd_file_find(const char *line, struct dcmd_file *file, struct err *err) _must_check_;
void dcmd_file_release(struct dcmd_file *file);

/* Appends the line with `path` instead of "{FILE}".  `path` has no quotes and no line end. */
void dcmd_file_replace(struct buf *out, const char *line, const struct dcmd_file *file,
		       const char *path);

#endif
