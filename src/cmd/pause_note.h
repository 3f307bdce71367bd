/* Notices that announce the expected pause of the JVM. */
#ifndef JTOOL_CMD_PAUSE_NOTE_H
#define JTOOL_CMD_PAUSE_NOTE_H

#include "cli/command.h"

enum pause_kind {
	PAUSE_DUMP, /* the JVM's own heap dump, including the full collection that precedes it */
	PAUSE_COLLECTION, /* a full collection */
};

/*
 * Appends a text, without a newline, that says how long the JVM will be paused.  heap_used is how
 * many bytes of the heap are in use, or an upper bound of that if `is_bound` is true.  The estimate
 * is a rule of thumb from measurements on JDK 8 to 27: 1.3 s for a dump of 1 GB of objects, 1 s for
 * a full collection of 1 GB by one GC thread.
 */
void pause_note_add(struct buf *out, enum pause_kind kind, int64_t heap_used, bool is_bound);

/*
 * Prints the text of pause_note_add() as a notice if stderr is a terminal or --verbose is given,
 * and if the used heap or a bound of it is known.
 */
void pause_note_print(const struct ctx *ctx, enum pause_kind kind);

#endif
