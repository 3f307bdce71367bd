/* Reads the files of an archive that `jtool capture` wrote, for commands that show its contents. */
#ifndef JTOOL_CMD_ARCHIVE_H
#define JTOOL_CMD_ARCHIVE_H

#include "base/buf.h"
#include "base/err.h"
#include "render/json.h"

/* Returns whether TARGET is an archive: its name ends in .tar.gz or .tgz. */
bool archive_is_file(const char *target);

/* Sets err for a file whose name is not that of an archive.  Returns -1. */
int archive_refuse(const char *path, struct err *err);

/*
 * Appends the content of the file `name` in the archive `path` to `text`.  Returns -1 with err set
 * if the archive does not have that file.
 */
int archive_read(const char *path, const char *name, struct buf *text, struct err *err)
	_must_check_;
/* Like archive_read(), but returns false if the archive has no file `name`. */
bool archive_has(const char *path, const char *name, struct buf *text);
/* Sets EXIT_USAGE for the file `name` in the archive `path`, which is damaged.  Returns -1. */
int archive_damaged(const char *path, const char *name, struct err *err);
/*
 * Reads the JSON document `name` in the archive `path`; the caller frees it.  Returns NULL with
 * err set on failure.
 */
struct json *archive_json(const char *path, const char *name, struct err *err) _must_check_;

#endif
