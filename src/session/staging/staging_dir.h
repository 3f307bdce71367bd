/*
 * The private directory DIR/.jtool-UID-NSPID and its content.  Only the helper calls these
 * functions.  The helper has the target's ids, so the functions reach only what the target can
 * reach.
 *
 * Each helper in the directory holds a shared flock(2) on it.  The last helper to leave gets the
 * exclusive lock, and removes the temporary files (those with a leading dot) and the directory.
 *
 * A file that the target writes has a directory of its own, DIR/.jtool-UID-NSPID-RANDOM, which is
 * removed at the end with everything in it.  A JVM that handles its request after the removal finds
 * no directory, so it cannot leave a file there.
 */
#ifndef JTOOL_SESSION_STAGING_STAGING_DIR_H
#define JTOOL_SESSION_STAGING_STAGING_DIR_H

#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/util.h"

struct staging_dir {
	int parent_fd; /* O_PATH descriptor of DIR; -1: not chosen yet */
	int dir_fd;    /* descriptor of the private directory, which is locked; -1: not entered */
	char prefix[24]; /* ".jtool-UID-" */
	char name[48];   /* name of the private directory in DIR */
	char socket[64]; /* name of the socket in the private directory */
	/* name of the file in the private directory; for a STAGED_SOCKET, the socket's name */
	const char *file;
	/*
	 * staging_dir_leave() removes not only the temporary files, but also files with names
	 * `stem`-…, which other builds of jtool have left; NULL: only the temporary files
	 */
	const char *stem;
	bool file_is_ours; /* this helper created the file */
};

/*
 * Initialises *sd.  With `exclusive`, the private directory gets the random name
 * .jtool-UID-NSPID-RANDOM, so no other helper uses it; the file's name must then begin with a dot.
 * `socket` is the name of the socket; NULL: a random one.
 */
void staging_dir_init(struct staging_dir *sd, uid_t uid, pid_t nspid, const char *file,
		      const char *socket, bool exclusive);

/*
 * Creates the directory in parent_fd, or uses the existing one, and locks it.  This function and
 * the next two return NULL on success, or the reason of the failure.
 */
const char *staging_dir_enter(struct staging_dir *sd) _must_check_;

/*
 * Creates the file with this content, unless the file exists and has the same content.  On failure,
 * no incomplete file remains.
 */
const char *staging_dir_put_file(struct staging_dir *sd, const void *data, size_t len) _must_check_;

/*
 * Creates a FIFO.  Sets *fd to its read end (O_NONBLOCK), which is open before the target knows the
 * name.
 */
const char *staging_dir_put_fifo(const struct staging_dir *sd, int *fd) _must_check_;

/*
 * Opens the file for reading.  Returns a descriptor; -ENOTUNIQ if the file is not a regular file of
 * the target's user; or another negative errno.
 */
int staging_dir_open_file(const struct staging_dir *sd) _must_check_;

/*
 * Returns the total size in bytes of the regular files in the directory; reads at most 1000
 * entries.
 */
uint64_t staging_dir_bytes(const struct staging_dir *sd);

/*
 * Removes the socket, and those directories of this user in DIR that no helper has locked.  If no
 * other helper uses the private directory, removes in addition its temporary files; the file, if
 * `discard` is set and this helper created it; and the directory itself, if it is empty then.
 */
void staging_dir_leave(struct staging_dir *sd, bool discard);

#endif
