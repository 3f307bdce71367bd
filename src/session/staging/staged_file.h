/*
 * Exchanges a file with a target: jtool creates a file that the target maps, or the target writes a
 * file that jtool reads.
 *
 * The file is in a directory of mode 0700 that the target's user owns, below a directory DIR of the
 * target.  DIR is the first usable one of: the JVM's tmp directory, /tmp, /var/tmp, /dev/shm, /run,
 * the working directory, the home directory.  For a STAGED_SOCKET, DIR is /tmp or the working
 * directory, because the target searches only these for the socket.
 *
 * A file that the target maps
 * - is in DIR/.jtool-UID-NSPID.  All sessions in one target share this directory; the last session,
 *   which a lock determines, removes it, with the files of all sessions in it;
 * - must not be on a noexec mount;
 * - has a hash of its content in its name, because the dynamic linker loads each path only once.
 *
 * A file that the target writes
 * - is in a directory of its own, DIR/.jtool-UID-NSPID-RANDOM, which is removed at the end with
 *   everything in it;
 * - needs free space, preferably on a disk, because files in memory count as memory of the target,
 *   so that the target's control groups must have room for them;
 * - has a path that may contain spaces, but no quotes, backslash, '%' or line end, because
 *   diagnostic commands interpret these.
 *
 * A helper process with the target's ids creates the directory and the file.  It removes them when
 * the staged file is freed, or when jtool ends for whatever reason.
 */
#ifndef JTOOL_SESSION_STAGING_STAGED_FILE_H
#define JTOOL_SESSION_STAGING_STAGED_FILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/verbose.h"
#include "discover/jvm.h"

struct staged_file;

enum staged_file_kind {
	STAGED_FILE,   /* jtool creates the file, and the target maps or reads it */
	STAGED_FIFO,   /* jtool creates the FIFO, and the target writes to it */
	STAGED_RESULT, /* the target creates and writes the file */
	STAGED_SOCKET, /* jtool creates only a socket, which the target finds by its name */
};

struct staged_file_request {
	enum staged_file_kind kind;
	/*
	 * The name of a STAGED_FILE is `stem`, "-", a hash and `suffix`, such as
	 * jtool-agent-HASH.so, with "kept-" before it if `keep` is set; the name of a STAGED_FIFO
	 * or STAGED_RESULT is ".", `stem` and `suffix`.  `stem` does not begin with a dot; `stem`
	 * and `suffix` contain no slash.
	 */
	const char *stem, *suffix;
	const char *socket; /* STAGED_SOCKET: the name of the socket, with a leading dot */
	const void *data; /* STAGED_FILE: the file's content */
	size_t len;       /* number of bytes at `data` */
	/* STAGED_FILE: the target reads the file but does not map it, so noexec is no problem */
	bool is_data;
	bool keep;        /* STAGED_FILE: do not remove the file, which is the user's own agent */
	int listener;     /* AF_UNIX socket, which is bound in the file's directory; -1: none */
	/*
	 * Bytes that must be free in the file's file system.  STAGED_RESULT: for the file itself;
	 * STAGED_FIFO: for the files that the target creates in the FIFO's directory.
	 */
	uint64_t room;
	/*
	 * STAGED_FIFO, STAGED_RESULT: the target writes other files in the file's directory, and
	 * merges them into the file.  It would log an error if they were removed before, so the
	 * helper waits for the end of the merge, also after jtool was killed: an hour at most.
	 */
	bool merges;
	bool memory_first;   /* if `room` is not 0: prefer a file system in memory to a disk */
	unsigned timeout_ms; /* ms to wait for the helper, which may be blocked; 0: 10 s */
};

/* Returns the name of the file, without a directory; the caller frees the name. */
char *staged_file_name(const struct staged_file_request *req) _must_check_;

/*
 * Stages the file.  Returns NULL with `err` set on failure.  If no directory is usable, the error
 * text names each directory and says why it is not usable.
 */
struct staged_file *staged_file_new(const struct jvm *jvm, const struct staged_file_request *req,
				    const struct verbose *verbose, struct err *err) _must_check_;

/*
 * staged_file_path() returns the path of the file, and staged_file_socket_path() the path of the
 * socket.  Both are paths in the target's root, and belong to the staged file.
 */
const char *staged_file_path(const struct staged_file *p);
const char *staged_file_socket_path(const struct staged_file *p);

/*
 * Fails if another user has replaced the directory of the staged file, so that the path leads
 * elsewhere.  Call it immediately before the path is sent to the target: where other users can
 * rename directories, nothing prevents the replacement after this check.  `staged` is a struct
 * staged_file; the type of the function is that of attach_opts.confirm.
 */
int staged_file_confirm(void *staged, struct err *err) _must_check_;

/*
 * Returns a descriptor for reading what the target writes; the caller closes it.  Call this
 * function only once for a staged file.
 *
 * STAGED_FIFO: call it at any time; the descriptor is O_NONBLOCK.  The FIFO is open for reading
 * before the target knows its name, so the target never waits for a reader.  The helper also has
 * the FIFO open for reading, until it removes the name of the FIFO.  So if the caller closes the
 * descriptor before the end of the data, the target's next write does not fail, but blocks: the
 * caller must then free the staged file immediately.
 *
 * STAGED_RESULT: call it after the target has finished.  Fails with EXIT_PARTIAL unless the file is
 * a regular file that the target's user owns.
 */
int staged_file_open(struct staged_file *p, struct err *err) _must_check_;

/*
 * Returns how many bytes the target has written so far to all files in the staged file's directory;
 * 0 if that is unknown.  While the number grows, the target makes progress.
 */
uint64_t staged_file_written(struct staged_file *p);

/*
 * Makes staged_file_free() remove the file even if `keep` is set.  Call this function if the JVM
 * could not load the agent in the file.
 */
void staged_file_discard(struct staged_file *p);

/*
 * Removes everything that was staged, but not the file if `keep` is set.  Waits until that is done,
 * at most timeout_ms of the request.  `p` may be NULL.
 */
void staged_file_free(struct staged_file *p);

#endif
