/*
 * A result in a file of the caller's: it appears under its name when it is whole, or not at all,
 * also when the process is killed at any moment.
 *
 * What it is written to until then has no name (O_TMPFILE), so nothing is left of it; on file
 * systems that cannot do that, and for the moment in which it replaces another file, it has a
 * hidden one beside the result's, and a process that takes it away when we end.  "-" means stdout.
 * What is no regular file (stdout, a pipe, a device) may be slow: it gets its bytes from an
 * unlinked file when they are all there.
 */
#ifndef JTOOL_BASE_OUTFILE_H
#define JTOOL_BASE_OUTFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/outguard.h"

struct outfile {
	const char *path; /* as the caller wrote it, for messages */
	int fd;           /* write here, to any file position; a regular file */
	int out_fd;       /* what is no regular file: the bytes go there at last; else -1 */
	int dir_fd;       /* of the result; -1 with out_fd */
	char *name;       /* of the result in it */
	struct outguard own_guard;
	struct outguard *guard; /* who knows its name until it is whole; NULL: its own does */
	bool is_hidden;   /* it has that name now */
	bool replace;
};

enum outfile_flags {
	OUTFILE_NEW = 0,          /* an existing file is refused (EXIT_USAGE) */
	OUTFILE_REPLACE = 1 << 0, /* it is replaced at once; a link's target, not the link */
};

/*
 * Begin.  The mode is what open(2) would give a new file with it: 0600 for what nobody else may
 * read.  A file that is replaced keeps its own, but one of somebody else's lets nobody read what
 * a new one would not.  -1 with err set before anything was made: EXIT_USAGE when it exists and
 * must not, else EXIT_PARTIAL.  The path must stay until the release.
 */
int outfile_open(struct outfile *f, const char *path, int flags, mode_t mode, struct err *err)
	_must_check_;

/*
 * The same for the file of this name in an open directory, which stays the caller's, as does the
 * guard; that one's directory is of the same file system, and it serves one file at a time.  A
 * regular file is replaced; whatever else has the name is left alone, and no link is followed.
 * The path is for messages, and must stay until the release.
 */
int outfile_open_at(struct outfile *f, int dir_fd, const char *name, struct outguard *guard,
		    const char *path, mode_t mode, struct err *err) _must_check_;

/* Set the error of a write to f->fd: a full disk, a quota, a limit.  Returns -1. */
int outfile_failed(const struct outfile *f, int error, struct err *err);

/*
 * It is whole: give it its name, or send it on its way.  A file that got this name meanwhile is
 * not overwritten without OUTFILE_REPLACE.  *size is its length; may be NULL.
 */
int outfile_commit(struct outfile *f, uint64_t *size, struct err *err) _must_check_;

/* Close, and remove what was not committed.  For one that outfile_open() has filled. */
void outfile_release(struct outfile *f);

#endif
