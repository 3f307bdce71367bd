/*
 * Output files that appear under their name when they are complete, or not at all, even if jtool is
 * killed.
 *
 * The data goes to an unnamed file (O_TMPFILE).  In two cases this file needs a hidden name in the
 * directory of the result: if the file system has no O_TMPFILE; and, for a moment, when the result
 * replaces a file.  A child process removes the hidden name when jtool exits (tmp_reaper.h).
 *
 * The path "-" means stdout, and /dev/fd/N means descriptor N of jtool.  A pipe or device may be
 * slow, so its data is collected in an unnamed file as well.  atomic_file_send() copies the data
 * that was collected so far to the pipe or device; atomic_file_commit() copies the rest.
 *
 * Another user must not be able to choose the file that jtool writes.  So links are followed as
 * caller_path.h describes, a pipe or device must belong to the caller or to root, and a pipe of
 * root must be in a directory in which only root and the caller can write.  Pipes and devices are
 * opened once, by atomic_file_open(), which waits up to 10 s until a pipe has a reader.
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
	int fd;           /* a regular file, to which the caller writes the data at any position */
	int out_fd;       /* the pipe, device or stdout that receives the data; else -1 */
	int dir_fd;       /* directory of the result; -1 if out_fd is set */
	char *name;       /* the result's final name in dir_fd */
	struct tmp_reaper own_reaper;
	struct tmp_reaper *reaper; /* owns the hidden name; NULL: own_reaper owns it */
	bool is_hidden;   /* the file is in the reaper's directory under the hidden name */
	bool replace;
	bool to_stdout;
	uint64_t sent; /* number of bytes that atomic_file_send() has copied to out_fd */
};

enum atomic_file_flags {
	/* opening fails (EXIT_USAGE) if `path` is a regular file, link or block device */
	ATOMIC_FILE_NEW = 0,
	/* the result replaces the regular file to which `path` leads; links are followed */
	ATOMIC_FILE_REPLACE = 1 << 0,
	/* opening fails (EXIT_USAGE) if the output is a terminal */
	ATOMIC_FILE_BINARY = 1 << 1,
};

/*
 * Opens an output file.  `mode` is as for open(2).  If the result replaces a file, the result gets
 * the mode of the replaced file; but if another user owns that file, the result gets no permission
 * that `mode` lacks.  `path` must stay valid until the release.
 *
 * Returns 0; or -1 with err set, and creates nothing:
 * - EXIT_USAGE if `path` is a directory, or if `flags` forbid this output;
 * - EXIT_PARTIAL for other errors, for example if `path` is a pipe, device or link that another
 *   user may have created.
 */
int atomic_file_open(struct atomic_file *f, const char *path, int flags, mode_t mode,
		     struct err *err) _must_check_;

/*
 * Opens the output file `name` in the directory dir_fd.  If a regular file has this name, the
 * result replaces that file; if a link or a file of another kind has this name, the open fails.
 * The caller owns dir_fd and the reaper.  A reaper serves one output file at a time, and the
 * reaper's directory must be on the same file system as dir_fd.  Messages call the file `path`,
 * which must stay valid until the release.
 */
int atomic_file_open_at(struct atomic_file *f, int dir_fd, const char *name,
			struct tmp_reaper *reaper, const char *path, mode_t mode,
			struct err *err) _must_check_;

/* Sets err for a failed write to f->fd.  `error` is a negative errno.  Returns -1. */
int atomic_file_failed(const struct atomic_file *f, int error, struct err *err);

/*
 * If the output is a pipe, device or stdout: copies the content of the file f->fd to the output,
 * then empties that file and sets its position to 0.  If the output is a regular file, does
 * nothing.  Use this function for data whose beginning is useful even if the rest never comes.
 * Errors are those of atomic_file_commit().
 */
int atomic_file_send(struct atomic_file *f, struct err *err) _must_check_;

/*
 * Gives the complete file its name or, if out_fd is set, copies the file to out_fd.  Sets *size to
 * the length of the complete output in bytes; `size` may be NULL.  Returns 0; or -1 with err set:
 * EXIT_SIGPIPE if stdout has no reader, else EXIT_PARTIAL.  Without ATOMIC_FILE_REPLACE, fails if a
 * file of this name was created after the open.
 */
int atomic_file_commit(struct atomic_file *f, uint64_t *size, struct err *err) _must_check_;

/*
 * Closes the file; if the file was not committed, removes it.  Call this function only after a
 * successful open.
 */
void atomic_file_release(struct atomic_file *f);

#endif
