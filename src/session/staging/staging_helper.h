/*
 * The staging helper: a child process with the target's ids.  The helper creates the staged file,
 * because the file system of the target may not answer and would then block jtool itself.  When
 * jtool closes the pipe `control`, or when jtool ends, the helper removes the file, unless the file
 * is to be kept (req->keep), and ends.
 */
#ifndef JTOOL_SESSION_STAGING_STAGING_HELPER_H
#define JTOOL_SESSION_STAGING_STAGING_HELPER_H

#include "session/staging/staged_file.h"
#include "session/staging/staging_paths.h"

/*
 * Commands that the parent, jtool, writes to `control`.
 */
#define STAGING_DISCARD 'd' /* remove the file when the helper ends, even if req->keep is true */
#define STAGING_OPEN 'o'    /* open the file; the reply is STAGING_OPENED or STAGING_NO_RESULT */
#define STAGING_WRITTEN 'w' /* measure the files in the directory; the reply is STAGING_SIZE */
#define STAGING_CONFIRM 'c' /* check the path; the reply is STAGING_IN_PLACE or STAGING_REPLACED */

/*
 * Kinds of reports.  A report is the character of its kind and then NUL-terminated strings, which
 * the comment of the kind lists.
 */
#define STAGING_READY 'k'     /* paths of file and socket; for a FIFO, also a read descriptor */
#define STAGING_EXPOSED 'x'   /* like STAGING_READY; another user could replace the directory */
#define STAGING_NO_DIR 'd'    /* the directories that were tried, and why each is unusable */
#define STAGING_FAILED 'e'    /* the exit code as a digit, then the text of an error */
#define STAGING_NO_USER 'u'   /* why the helper cannot take the target's ids */
#define STAGING_OPENED 'f'    /* no strings; a descriptor that is open for reading the file */
#define STAGING_SIZE 's'      /* total bytes of the files in the file's directory, in decimal */
#define STAGING_IN_PLACE 'p'  /* no strings; the path leads to the helper's directory */
#define STAGING_REPLACED 'n'  /* no strings; the path leads elsewhere, or nowhere */
#define STAGING_NO_RESULT 'r' /* why the file cannot be opened */

struct staging_helper_job {
	const struct jvm *jvm;
	const struct staged_file_request *req;
	const char *file_name;
	/* how many more bytes files in memory may have before the target's cgroups are full */
	uint64_t memory;
	int report;  /* socket for reports; closed when the helper ends */
	int control; /* pipe for commands */
};

/* Forks the helper.  Returns its pid or a negative errno. */
pid_t staging_helper_start(const struct staging_helper_job *job) _must_check_;

#endif
