/* Reads the files of an archive that `jtool capture` wrote, for commands that show its contents. */
#ifndef JTOOL_CMD_ARCHIVE_H
#define JTOOL_CMD_ARCHIVE_H

#include "base/buf.h"
#include "base/err.h"
#include "render/json.h"

/* Returns whether `target`, the argument TARGET, names an archive: it ends in .tar.gz or .tgz. */
bool archive_is_file(const char *target);

/* Sets err for a file whose name is not that of an archive.  Returns -1. */
int archive_refuse(const char *path, struct err *err);

/*
 * Appends the content of the file `name` in the archive `path` to `text`.  Returns -1 with err set
 * if the archive does not have that file.
 */
int archive_read(const char *path, const char *name, struct buf *text, struct err *err)
	_must_check_;
/*
 * Like archive_read(), for a file that not every archive has: returns 1 if the file was read; 0 if
 * the archive does not have it; -1 with err set if it cannot be known, for example because the
 * archive is damaged.
 */
int archive_find(const char *path, const char *name, struct buf *text, struct err *err)
	_must_check_;
/* Sets err (EXIT_USAGE) for the archive `path`, whose file `name` is damaged.  Returns -1. */
int archive_damaged(const char *path, const char *name, struct err *err);
/*
 * Returns the parsed JSON document `name` of the archive `path`, which the caller frees; or NULL
 * with err set.
 */
struct json *archive_json(const char *path, const char *name, struct err *err) _must_check_;

#endif
