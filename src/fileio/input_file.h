/* Opens the files that the caller names as input: class files, jars, dumps, reports. */
#ifndef JTOOL_FILEIO_INPUT_FILE_H
#define JTOOL_FILEIO_INPUT_FILE_H

#include <sys/stat.h>

#include "base/err.h"

enum input_file_kinds {
	/* only regular files, because the file is read twice or by position */
	INPUT_FILE_REGULAR = 0,
	/* also pipes that root or the caller owns, or that jtool has inherited */
	INPUT_FILE_PIPE = 1 << 0,
};

/*
 * Opens the file for reading, and sets *st as fstat(2) does.  Links are followed.  Files of kinds
 * that are not in `kinds` are not opened.  Waits for the writer of a FIFO, as open(2) does.
 * Returns a descriptor, or -1 with err set: EXIT_PERMISSION, or EXIT_USAGE if the file is missing
 * or of another kind.
 */
int input_file_open(const char *path, int kinds, struct stat *st, struct err *err) _must_check_;

/* Sets err for a file that cannot be read.  `error` is a negative errno.  Returns -1. */
int input_file_failed(const char *path, int error, struct err *err);

#endif
