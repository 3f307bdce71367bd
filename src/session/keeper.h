/*
 * The keeper: a child process with the target's ids that makes what is placed in the target's
 * file system, holds it while jtool lives, and removes it afterwards, however jtool ended.
 */
#ifndef JTOOL_SESSION_KEEPER_H
#define JTOOL_SESSION_KEEPER_H

#include "session/place.h"
#include "session/where.h"

/* What the parent writes to `control`; its end is the end of the place. */
#define KEEPER_DISCARD 'd' /* do not keep the file after all */
#define KEEPER_OPEN 'o'    /* report once more, with the target's file */

/* The first letter of a report; what follows ends with NUL, each. */
#define KEEPER_PLACED 'k'    /* path of the file, path of the socket; with it a FIFO's read end */
#define KEEPER_NO_PLACE 'd'  /* why each directory was refused */
#define KEEPER_NO_USER 'u'   /* why it could not become the target's user */
#define KEEPER_OPENED 'f'    /* nothing; with it the file */
#define KEEPER_NO_RESULT 'r' /* why the file cannot be opened */

struct keeper_job {
	const struct ns *ns;
	const struct where *where;
	const struct place_request *req;
	const char *file_name;
	int report;  /* socket: reports, and its end when the keeper is done */
	int control; /* pipe: see above */
};

/* Fork it: its pid, or a negative errno.  It reports once, and again when asked to. */
pid_t keeper_start(const struct keeper_job *job) _must_check_;

#endif
