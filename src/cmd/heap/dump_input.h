/* Reads a heap dump from a file that the caller names; it may be compressed with gzip. */
#ifndef JTOOL_CMD_HEAP_DUMP_INPUT_H
#define JTOOL_CMD_HEAP_DUMP_INPUT_H

#include "cmd/heap/vm_dump_stream.h"

/*
 * Reads the file, decompresses it if it is compressed, and passes the bytes to take() (see
 * vm_dump_stream.h), until take() returns 1 or the file ends.  Returns 0; or -1 with err set.  The
 * error is that of input_file_open() or take(), or EXIT_PARTIAL if the file cannot be read to its
 * end.  The text of the error begins with the path.
 */
int dump_input_read(const char *path, dump_chunk_fn *take, void *arg, struct err *err)
	_must_check_;

#endif
