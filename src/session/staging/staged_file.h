/*
 * Exchanges a file with a target: jtool creates a file for the target to map, or the target writes
 * one.
 *
 * The file is in DIR/.jtool-UID-NSPID, a directory of mode 0700 that the target's user owns.  DIR
 * is the first usable one of these directories of the target: tmp directory, /tmp, /var/tmp,
 * /dev/shm, /run, working directory, home.  For a STAGED_SOCKET, DIR is /tmp or the working
 * directory, where the target searches for the socket.  A mapped file must not be on a noexec
 * mount.  The name of a mapped file contains a hash of its content, because the dynamic linker
 * loads each path only once.  A file that the target writes needs free space, preferably on a disk:
 * files in memory count as the target's memory, so the target's control groups must have room for
 * them.  The path of a file that the target writes may contain spaces, but no quotes, backslash,
 * '%' or line end, which diagnostic commands interpret.
 *
 * A helper process with the target's ids creates the directory and the file.  It removes them when
 * the staged file is freed or jtool ends for whatever reason.  Sessions in one target share the
 * directory of mapped files; the last session, found by a lock, removes the directory.  A file that
 * the target writes has a directory of its own, DIR/.jtool-UID-NSPID-RANDOM, which is removed with
 * everything in it.
 */
#ifndef JTOOL_SESSION_STAGING_STAGED_FILE_H
#define JTOOL_SESSION_STAGING_STAGED_FILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/verbose.h"
#include "discover/jvm.h"

struct staged_file;

enum staged_file_kind {
	STAGED_FILE,   /* created by jtool for the target to map */
	STAGED_FIFO,   /* created by jtool for the target to write to */
	STAGED_RESULT, /* created by the target */
	STAGED_SOCKET, /* no file; only a socket, which the target finds by its name */
};

struct staged_file_request {
	enum staged_file_kind kind;
	/*
	 * A STAGED_FILE is called STEM-HASH + SUFFIX, such as jtool-agent-HASH.so; a file of
	 * another kind is called .STEM + SUFFIX.  The stem has no leading dot; neither text has a
	 * slash.
	 */
	const char *stem, *suffix;
	const char *socket; /* STAGED_SOCKET: the name of the socket, with a leading dot */
	const void *data; /* STAGED_FILE: the file's content */
	size_t len;       /* of data, in bytes */
	/* STAGED_FILE: the target reads the file and does not map it, so the mount may be noexec */
	bool is_data;
	bool keep;        /* STAGED_FILE: do not remove the file (the user's own agent) */
	int listener;     /* unbound AF_UNIX socket to bind in the file's directory; -1: none */
	/*
	 * Bytes that must be free for a STAGED_RESULT, or for the files that the target creates in
	 * the directory of a STAGED_FIFO.
	 */
	uint64_t room;
	bool memory_first;   /* with `room`: prefer a file system in memory to one on a disk */
	unsigned timeout_ms; /* limit for the helper, as file systems may not answer; 0: 10 s */
};

/* Returns the file's name without its directory; the caller frees it. */
char *staged_file_name(const struct staged_file_request *req) _must_check_;

/*
 * Stages the file.  Returns NULL with `err` set; if no directory is usable, the error names each
 * one that was tried and the reason.
 */
struct staged_file *staged_file_new(const struct jvm *jvm, const struct staged_file_request *req,
				    const struct verbose *verbose, struct err *err) _must_check_;

/*
 * Return the path of the file, or of its socket, in the target's root.  The staged file owns both
 * paths.
 */
const char *staged_file_path(const struct staged_file *p);
const char *staged_file_socket_path(const struct staged_file *p);

/*
 * Returns a descriptor to read the file that the target writes; the caller closes it.  Call this
 * once.
 *
 * STAGED_FIFO: call it at any time; the descriptor is O_NONBLOCK.  The read end is open before the
 * target knows the name, so the target never waits for a reader.  As long as the FIFO has a name,
 * the helper has a second read end open, so closing the descriptor does not stop the target's
 * writes: a caller that stops reading before the end of the data must free the staged file at once,
 * or the target blocks.
 *
 * STAGED_RESULT: call it after the target has finished.  Fails (EXIT_PARTIAL) unless the file is a
 * regular file of the target's user.
 */
int staged_file_open(struct staged_file *p, struct err *err) _must_check_;

/*
 * Returns the number of bytes that the target has written to files in the directory of the staged
 * file so far, as a measure of progress; or 0 if the number is unknown.
 */
uint64_t staged_file_written(struct staged_file *p);

/*
 * Makes staged_file_free() remove the file in spite of `keep`: for an agent that could not be
 * loaded.
 */
void staged_file_discard(struct staged_file *p);

/*
 * Removes everything that was staged, except a file with `keep`.  Waits up to 10 s until that is
 * done.  `p` may be NULL.
 */
void staged_file_free(struct staged_file *p);

#endif
