/*
 * Output files that appear under their name when they are complete, or not at all, even if the
 * process is killed.
 *
 * The data goes to an unnamed file (O_TMPFILE).  A hidden name in the directory of the result is
 * used on file systems without O_TMPFILE, and for a moment when the result replaces a file; a child
 * process removes that name when we exit (tmp_reaper.h).  "-" means stdout, /dev/fd/N a descriptor
 * of ours.  A pipe or a device may be slow: its data is collected in an unnamed file, and copied at
 * the commit.
 *
 * Another user must not choose what is written to.  Links are followed as caller_path.h describes.
 * A pipe or device must belong to the caller or to root, and a pipe of root must not be where
 * others can write.  It is opened once, at the beginning; a pipe must get a reader within 10 s.
 */
#ifndef JTOOL_FILEIO_ATOMIC_FILE_H
#define JTOOL_FILEIO_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "fileio/tmp_reaper.h"

struct atomic_file {
	const char *path; /* as the caller gave it, for messages */
	int fd;           /* write the data here, at any position; a regular file */
	int out_fd;       /* the pipe, device or stdout that receives the data; else -1 */
	int dir_fd;       /* directory of the result; -1 with out_fd */
	char *name;       /* name of the result in dir_fd */
	struct tmp_reaper own_reaper;
	struct tmp_reaper *reaper; /* owns the hidden name; NULL: own_reaper owns it */
	bool is_hidden;   /* the file has the hidden name now */
	bool replace;
	bool to_stdout;
};

enum atomic_file_flags {
	/* The open fails with EXIT_USAGE if a regular file, a link or a block device exists. */
	ATOMIC_FILE_NEW = 0,
	ATOMIC_FILE_REPLACE = 1 << 0, /* the commit replaces an existing file; a link is followed */
	ATOMIC_FILE_BINARY = 1 << 1, /* the open fails with EXIT_USAGE if it is a terminal */
};

/*
 * Opens an output file.  `mode` is as for open(2).  A result that replaces a file gets the mode of
 * that file, restricted to `mode` if another user owns the file.  Returns -1 with err set and
 * nothing created: EXIT_USAGE if `path` is a directory, or exists and is not to be replaced; else
 * EXIT_PARTIAL, also for what another user may have put there.  `path` must stay valid until the
 * release.
 */
int atomic_file_open(struct atomic_file *f, const char *path, int flags, mode_t mode,
		     struct err *err) _must_check_;

/*
 * Opens the output file `name` in the directory dir_fd.  The result replaces a regular file; fails
 * if the name belongs to anything else, even a link.  The caller owns dir_fd and the reaper, which
 * serves one file at a time and has a directory on the same file system.  `path` is for messages,
 * and must stay valid until the release.
 */
int atomic_file_open_at(struct atomic_file *f, int dir_fd, const char *name,
			struct tmp_reaper *reaper, const char *path, mode_t mode,
			struct err *err) _must_check_;

/* Sets err for a failed write to f->fd.  `error` is a negative errno.  Returns -1. */
int atomic_file_failed(const struct atomic_file *f, int error, struct err *err);

/*
 * Gives the complete file its name, or copies it to out_fd (EXIT_SIGPIPE if stdout has no reader).
 * Without ATOMIC_FILE_REPLACE, fails if
 * a file of this name has appeared meanwhile.  Sets *size to the length in bytes; size may be NULL.
 */
int atomic_file_commit(struct atomic_file *f, uint64_t *size, struct err *err) _must_check_;

/* Closes the file, and removes it if it was not committed.  Only after a successful open. */
void atomic_file_release(struct atomic_file *f);

#endif
