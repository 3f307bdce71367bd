/*
 * The keeper: a child process with the target's ids that makes what is placed in the target's
 * file system, holds it while jtool lives, and removes it afterwards, however jtool ended.
 */
#ifndef JTOOL_SESSION_KEEPER_H
#define JTOOL_SESSION_KEEPER_H

#include "session/place.h"
#include "session/where.h"

#define KEEPER_REPORT_MAX 65536

/* What the parent writes to `control`; its end is the end of the place. */
#define KEEPER_DISCARD 'd' /* do not keep the file after all */

struct keeper_job {
	const struct ns *ns;
	const struct where *where;
	const struct place_request *req;
	const char *file_name;
	int report;  /* pipe: one report, and its end when the keeper is done */
	int control; /* pipe: see above */
};

/*
 * Fork it: its pid, or a negative errno.  The report is a native uint32_t length and that many
 * bytes: 'k', path of the file, NUL, path of the socket, NUL; or 'd', why each directory was
 * refused, NUL; or 'u', why it could not become the target's user, NUL.
 */
pid_t keeper_start(const struct keeper_job *job) _must_check_;

#endif
