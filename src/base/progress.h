/* A progress line that overwrites itself; on stderr, and only if that is a terminal. */
#ifndef JTOOL_BASE_PROGRESS_H
#define JTOOL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

struct progress {
	bool on;         /* stderr is a terminal */
	bool shown;      /* the terminal shows the line */
	int64_t next_ns; /* time of the next update, by monotonic_ns() */
};

/* The interval of updates, in ms, and the delay of the first: most work has ended by then. */
#define PROGRESS_MS 200
void progress_begin(struct progress *p);

/*
 * Returns true if the next update is due.  Cheap enough to call for each chunk of the work.  False
 * if the terminal is stopped (^S): a JVM may be paused while we would wait for the terminal.
 */
bool progress_due(struct progress *p);
/* Shows a line such as "walking the heap: 3.1 million objects": no newline, no text of a target. */
void progress_show(struct progress *p, const char *fmt, ...) _printf_(2, 3);

/* Shows "waiting for WHAT of JVM 4711 for 3 s" if it is due; since_ns: monotonic_ns() then. */
void progress_wait(struct progress *p, const char *what, int pid, int64_t since_ns);

/* Clears the line. */
void progress_end(struct progress *p);

#endif
