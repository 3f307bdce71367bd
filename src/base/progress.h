/* A progress line on stderr that overwrites itself.  It is shown only if stderr is a terminal. */
#ifndef JTOOL_BASE_PROGRESS_H
#define JTOOL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

struct progress {
	bool on;         /* stderr is a terminal, so the line may be shown */
	bool shown;      /* the line is on the screen now */
	int64_t next_ns; /* when the next update is due, by monotonic_ns() */
};

/*
 * Interval of updates in ms.  The first update is due after one interval, so that work which ends
 * earlier shows no line.
 */
#define PROGRESS_MS 200
void progress_begin(struct progress *p);

/*
 * Returns true if the next update is due.  Cheap enough to be called for each chunk of work.
 * Returns false while the terminal is stopped (^S): a write would block the caller, and a JVM that
 * the caller has paused would remain paused.
 */
bool progress_due(struct progress *p);
/*
 * Shows a line such as "walking the heap: 3.1 million objects".  The text has no newline and must
 * not contain text from a target.
 */
void progress_show(struct progress *p, const char *fmt, ...) _printf_(2, 3);

/*
 * Shows "waiting for WHAT of JVM 4711 for 3 s" if an update is due.  `since_ns` is when the wait
 * began, by monotonic_ns().
 */
void progress_wait(struct progress *p, const char *what, int pid, int64_t since_ns);

/* Removes the line from the screen. */
void progress_end(struct progress *p);

#endif
