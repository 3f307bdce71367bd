/* Announces the expected pause of the JVM. */
#ifndef JTOOL_CMD_HEAP_PAUSE_NOTE_H
#define JTOOL_CMD_HEAP_PAUSE_NOTE_H

#include "cli/command.h"

enum pause_kind {
	PAUSE_DUMP,       /* the JVM's own heap dump, including the collection before it */
	PAUSE_COLLECTION, /* a full collection */
};

/*
 * Appends, without a newline, for how long the JVM pauses with heap_used bytes of heap in use.  A
 * rule of thumb from measurements on JDK 8 to 27: a dump takes 1.3 s for a GB of objects, a full
 * collection with one thread 1 s.
 */
void pause_note_add(struct buf *out, enum pause_kind kind, int64_t heap_used);

/* Prints the notice if stderr is a terminal or with --verbose, and if the heap's use is known. */
void pause_note_print(const struct ctx *ctx, enum pause_kind kind);

#endif
