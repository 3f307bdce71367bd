/*
 * The private directory DIR/.jtool-UID-NSPID and its content.  Only the helper calls these
 * functions.  The helper has the target's ids, so it can access only files that the target can
 * access.
 *
 * Each helper that uses the directory holds a shared flock(2) on the directory.  The helper that
 * leaves last gets the exclusive lock.  It removes the files of all helpers, except those whose
 * names begin with STAGING_KEPT, and then the directory, if it is empty.
 *
 * A file that the target writes is in a directory of its own, DIR/.jtool-UID-NSPID-RANDOM, which is
 * removed at the end with everything in it.  If the JVM handles the request to write the file only
 * after the removal, it finds no directory, so it cannot leave a file there.
 */
#ifndef JTOOL_SESSION_STAGING_STAGING_DIR_H
#define JTOOL_SESSION_STAGING_STAGING_DIR_H

#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/util.h"

/* start of the names of the files that stay when the helpers have left: the user's agents */
#define STAGING_KEPT "kept-"

struct staging_dir {
	int parent_fd; /* O_PATH descriptor of DIR (see above); -1: not chosen yet */
	int dir_fd;    /* descriptor with the lock on the private directory; -1: not entered */
	char prefix[24]; /* ".jtool-UID-" */
	char name[48];   /* name of the private directory, which is in DIR */
	char socket[64]; /* name of the socket, which is in the private directory */
	/* name of the file, which is in the private directory; STAGED_SOCKET: the socket's name */
	const char *file;
	bool file_is_ours; /* this helper created the file */
};

/*
 * Initialises *sd.  If `exclusive` is set, the private directory gets the random name
 * .jtool-UID-NSPID-RANDOM, so that no other helper uses it.  `socket` is the name of the socket;
 * NULL: a random name.
 */
void staging_dir_init(struct staging_dir *sd, uid_t uid, pid_t nspid, const char *file,
		      const char *socket, bool exclusive);

/*
 * Creates the private directory in parent_fd, unless it exists, and locks it.  This function and
 * the next two return NULL on success; on failure, a text with the reason.
 */
const char *staging_dir_enter(struct staging_dir *sd) _must_check_;

/*
 * Creates the file with this content, unless the file exists with this content.  Leaves no
 * incomplete file on failure.
 */
const char *staging_dir_put_file(struct staging_dir *sd, const void *data, size_t len) _must_check_;

/*
 * Creates the file as a FIFO.  Sets *fd to the read end of the FIFO, which is O_NONBLOCK.
 */
const char *staging_dir_put_fifo(const struct staging_dir *sd, int *fd) _must_check_;

/*
 * Opens the file for reading.  Returns a descriptor; -ENOTUNIQ if the file is not a regular file or
 * the target's user does not own it; or another negative errno.
 */
int staging_dir_open_file(const struct staging_dir *sd) _must_check_;

/*
 * Returns the total size, in bytes, of the regular files in the private directory.  Reads at most
 * 1000 directory entries.
 */
uint64_t staging_dir_bytes(const struct staging_dir *sd);

/*
 * Returns true if the target is merging other files of the private directory into the file: if the
 * file is there, and is empty or another file has its name and a suffix.  HotSpot does so since
 * JDK 22, and names the others FILE.p0, FILE.p1 and so on (JDK-8306441, heapDumper.cpp).
 */
bool staging_dir_is_merged_into(const struct staging_dir *sd);

/*
 * Removes
 * - the socket;
 * - the file, if its name begins with STAGING_KEPT, `discard` is set, and this helper has created
 *   it;
 * - if no other helper uses the private directory: all files in it that are not kept, and the
 *   directory itself, if it is then empty;
 * - the private directories in DIR that killed helpers of this user have left.
 */
void staging_dir_leave(struct staging_dir *sd, bool discard);

#endif
