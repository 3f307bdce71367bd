/*
 * The map of a JVM's code cache, from the agent's frames (CODE in wire/frames.def).  It is written
 * in the form that perf and bpftrace read: a line "ADDRESS SIZE NAME" for each piece of code, both
 * numbers hexadecimal.
 */
#ifndef JTOOL_MODEL_PROFILE_CODE_MAP_H
#define JTOOL_MODEL_PROFILE_CODE_MAP_H

#include "base/buf.h"
#include "wire/cursor.h"

struct code_row {
	uint64_t address;
	uint64_t size; /* bytes */
	size_t name;   /* offset in code_map.names */
};

struct code_map {
	struct code_row *rows;
	size_t n, cap;
	struct buf names;    /* the names, each with a NUL at its end */
	uint32_t n_unloaded; /* methods that are not in `rows`: their class was unloaded */
};

void code_map_release(struct code_map *map);

/*
 * Reads one frame.  Returns 0 if more frames follow; 1 if the frame was the last one; or -EBADMSG
 * if the frame is inconsistent or a limit is exceeded.
 *
 * Methods have the names that Compiler.perfmap of JDK 17 and later gives them: "void
 * a.b.C.f(int[], java.lang.String)".
 */
int code_map_take(struct code_map *map, uint16_t type, struct wire_reader *payload) _must_check_;

/*
 * Sorts the rows by address, and removes overlaps: a row ends where the next row begins, and of
 * rows with the same address the one that was received last remains.  Overlaps occur because the
 * JVM reuses the memory of discarded code while the agent reads the map, and because a piece of
 * code can contain stubs that have names of their own.
 */
void code_map_sort(struct code_map *map);

/* Appends the lines of the map.  Rows of size 0 get no line. */
void code_map_add(struct buf *out, const struct code_map *map);

#endif
