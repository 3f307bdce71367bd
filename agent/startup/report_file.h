/* Writes a file under a temporary name with mode 0600, and renames it.  Does not use stdio. */
#ifndef JTOOL_AGENT_STARTUP_REPORT_FILE_H
#define JTOOL_AGENT_STARTUP_REPORT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "startup/startup_options.h"

struct ag_report_file {
	int fd, error; /* error: the first errno that occurred; 0: none */
	size_t n;      /* bytes in `data` that are not written yet */
	char temporary[AG_PATH_MAX];
	char data[16384];
};

/* The functions that return int return 0, or -1 with file->error set. */
int ag_report_file_open(struct ag_report_file *file, const char *path, uint32_t pid);
/* Appends data.  If this fails, ag_report_file_finish() returns the error. */
void ag_report_file_put(struct ag_report_file *file, const char *data, size_t len);
/*
 * Writes the buffered data and renames the temporary file to `path`.  On an error, deletes the
 * temporary file.
 */
int ag_report_file_finish(struct ag_report_file *file, const char *path);
/* Closes and deletes the temporary file. */
void ag_report_file_drop(struct ag_report_file *file);

/* Returns the message for an errno, a constant string. */
const char *ag_report_file_why(int error);

#endif
