/* Saves and loads class histograms, for --save and --diff. */
#ifndef JTOOL_CMD_HEAP_HISTO_FILE_H
#define JTOOL_CMD_HEAP_HISTO_FILE_H

#include "base/err.h"
#include "cmd/heap/heap_engine.h"
#include "model/histo/histo.h"

/*
 * Writes all rows of `h` in their order to a file.  A regular file is replaced atomically and keeps
 * its mode; a symbolic link is followed.  A pipe, a device, or "-" (stdout) is written to directly.
 */
int histo_file_save(const struct histo *h, int64_t pid, const char *path,
		    struct err *err) _must_check_;
int histo_file_load(struct histo *h, const char *path, struct err *err) _must_check_;

/*
 * Reads the histogram in an archive of `jtool capture`.  Sets *engine to the engine that counted
 * the objects, and *pause_ns to the JVM's pause during the count; -1: unknown.
 */
int histo_file_archive(struct histo *h, const char *path, enum heap_engine *engine,
		       int64_t *pause_ns, struct err *err) _must_check_;

#endif
