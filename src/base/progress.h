/*
 * One line that tells how far something is: on the terminal that stderr is, else nowhere.  It is
 * written over itself, and is gone when it is ended.
 */
#ifndef JTOOL_BASE_PROGRESS_H
#define JTOOL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

struct progress {
	bool on;         /* there is somebody to tell */
	bool shown;      /* the line is there */
	int64_t next_ns; /* when it is time for another */
};

/* Nothing is shown in the first moments: most is done by then. */
#define PROGRESS_MS 200
void progress_begin(struct progress *p);

/*
 * Is it time to tell more?  Cheap enough to be asked for each piece of the work.  A terminal that
 * takes nothing (^S) is told nothing: a JVM may stand still for as long as we wait.
 */
bool progress_due(struct progress *p);
/* Tell it: "walking the heap: 3.1 million objects".  Text of ours only, no line end. */
void progress_tell(struct progress *p, const char *fmt, ...) _printf_(2, 3);

void progress_end(struct progress *p);

#endif
