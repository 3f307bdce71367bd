/* Saves and loads class histograms, for --save and --diff. */
#ifndef JTOOL_CMD_HEAP_HISTO_FILE_H
#define JTOOL_CMD_HEAP_HISTO_FILE_H

#include "base/err.h"
#include "model/histo/histo.h"

/*
 * Writes all rows, in their order.  A regular file is replaced atomically and keeps its mode; a
 * symbolic link is followed.  Anything else (a pipe, a device, "-" for stdout) is written to.
 */
int histo_file_save(const struct histo *h, int64_t pid, const char *path,
		    struct err *err) _must_check_;
int histo_file_load(struct histo *h, const char *path, struct err *err) _must_check_;

#endif
