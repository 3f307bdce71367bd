/*
 * The staging helper: a child process with the target's ids, and the only one that touches the
 * target's file systems, which may not answer.  It creates the staged file in the
 * target's file system and removes it when jtool closes `control` or ends.
 */
#ifndef JTOOL_SESSION_STAGING_STAGING_HELPER_H
#define JTOOL_SESSION_STAGING_STAGING_HELPER_H

#include "session/staging/staged_file.h"
#include "session/staging/staging_paths.h"

/* Commands from the parent on `control`; closing it ends the helper. */
#define STAGING_DISCARD 'd' /* remove the file in spite of `keep` */
#define STAGING_OPEN 'o'    /* report STAGING_OPENED or STAGING_NO_RESULT */

#define STAGING_WRITTEN 'w' /* report STAGING_SIZE */

/* The first character of a report; NUL-terminated strings follow. */
#define STAGING_READY 'k'     /* paths of file and socket; the descriptor is a FIFO's read end */
#define STAGING_NO_DIR 'd'    /* the reason for each directory */
#define STAGING_FAILED 'e'    /* the exit code as a digit, then the text of an error */
#define STAGING_NO_USER 'u'   /* why the helper cannot take the target's ids */
#define STAGING_OPENED 'f'    /* the descriptor is the file, open for reading */
#define STAGING_SIZE 's'      /* decimal number: bytes of the files in the directory */
#define STAGING_NO_RESULT 'r' /* why the file cannot be opened */

struct staging_helper_job {
	const struct jvm *jvm;
	const struct staged_file_request *req;
	const char *file_name;
	uint64_t memory; /* bytes of a file in memory that the target's control groups can take */
	int report;  /* socket for reports; closed when the helper ends */
	int control; /* pipe for commands */
};

/* Forks the helper.  Returns its pid or a negative errno. */
pid_t staging_helper_start(const struct staging_helper_job *job) _must_check_;

#endif
