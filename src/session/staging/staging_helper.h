/*
 * The staging helper: a child process with the target's ids.  The helper creates the staged file in
 * a file system of the target, which may not answer and would then block jtool itself.  The helper
 * removes the file when jtool closes the pipe `control` or ends.
 */
#ifndef JTOOL_SESSION_STAGING_STAGING_HELPER_H
#define JTOOL_SESSION_STAGING_STAGING_HELPER_H

#include "session/staging/staged_file.h"
#include "session/staging/staging_paths.h"

/*
 * Commands that the parent writes to `control`.  The helper ends when the parent closes `control`.
 */
#define STAGING_DISCARD 'd' /* remove the file at the end, even if req->keep is true */
#define STAGING_OPEN 'o'    /* open the file; the reply is STAGING_OPENED or STAGING_NO_RESULT */

#define STAGING_WRITTEN 'w' /* measure the files in the directory; the reply is STAGING_SIZE */

/*
 * Kinds of reports.  A report is the character of its kind and then NUL-terminated strings, whose
 * content the comments below describe.
 */
#define STAGING_READY 'k'     /* paths of file and socket; for a FIFO, also its read end */
#define STAGING_NO_DIR 'd'    /* each directory with the reason why it is unusable */
#define STAGING_FAILED 'e'    /* the exit code as a digit, then the text of an error */
#define STAGING_NO_USER 'u'   /* why the helper cannot take the target's ids */
#define STAGING_OPENED 'f'    /* no text; a descriptor that is open for reading the file */
#define STAGING_SIZE 's'      /* decimal number: bytes of the files in the directory */
#define STAGING_NO_RESULT 'r' /* why the file cannot be opened */

struct staging_helper_job {
	const struct jvm *jvm;
	const struct staged_file_request *req;
	const char *file_name;
	/* how many bytes the target's control groups still allow for files in memory */
	uint64_t memory;
	int report;  /* socket for reports; closed when the helper ends */
	int control; /* pipe for commands */
};

/* Forks the helper.  Returns its pid or a negative errno. */
pid_t staging_helper_start(const struct staging_helper_job *job) _must_check_;

#endif
