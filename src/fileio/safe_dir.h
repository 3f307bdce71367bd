/*
 * Writes files with untrusted names below a directory.  Nothing is ever written outside of the
 * directory, whatever the names are and whatever the directory contains.
 *
 * safe_dir_add() escapes each component of a name.  Folders are opened or created one by one, and
 * symbolic links below the directory are neither followed nor replaced.  A file appears when it is
 * complete, see atomic_file.h.
 */
#ifndef JTOOL_FILEIO_SAFE_DIR_H
#define JTOOL_FILEIO_SAFE_DIR_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "fileio/caller_path.h"
#include "fileio/tmp_reaper.h"

struct safe_dir {
	const char *path; /* path of the directory as the caller gave it */
	int fd;
	struct caller_path place; /* parent and name of the directory, if jtool created it */
	/* the process that removes an incomplete file when jtool exits or is killed */
	struct tmp_reaper reaper;
	bool created; /* jtool created the directory, and has not written to it yet */
};

/*
 * Opens the directory `path`, or creates it in its parent, which must exist.  Follows links in
 * `path` as caller_path.h describes; `path` must stay valid.  Returns 0; or -1 with err set:
 * EXIT_USAGE if `path` is not a directory, else EXIT_PARTIAL.
 */
int safe_dir_open(struct safe_dir *d, const char *path, struct err *err) _must_check_;
/* Closes the directory, and removes it if jtool created it and wrote nothing. */
void safe_dir_close(struct safe_dir *d);

/*
 * Appends a component, which is `text` and then `suffix`, to a name; inserts a '/' unless the name
 * is empty.  In `text`, unsafe bytes (a '/', control characters, a leading dot, invalid UTF-8, …)
 * become %XX.  If the component would exceed NAME_MAX, the end of the text is replaced by "%-" and
 * a hash of the complete text.  Different texts yield different components, unless both texts are
 * too long and their hashes are equal.
 */
void safe_dir_add(struct buf *name, const char *text, size_t len, const char *suffix);

/* Returns "DIR/NAME", or "NAME" if DIR is ".".  The caller frees it. */
char *safe_dir_path(const struct safe_dir *d, const char *name);

/*
 * Writes or replaces a file.  Returns 0; 1 if only this name fails (too long, too deep, not a
 * regular file), with the reason in *why; -1 with err set if every file would fail.
 */
int safe_dir_write(struct safe_dir *d, const char *name, const void *data, size_t len,
		   const char **why, struct err *err) _must_check_;

/*
 * Returns true if file names in the directory ignore case; false if they do not, or if this is
 * unknown.
 */
bool safe_dir_folds_case(const struct safe_dir *d);

#endif
