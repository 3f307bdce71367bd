/*
 * Writes an HPROF file in DUMP_DATA frames.  The agent's thread writes the header and the symbols;
 * the child process writes everything else.
 *
 * HEAP DUMP SEGMENT records contain the roots, classes and objects as sub-records.  The length of a
 * record precedes its contents, and cannot be corrected after the length was sent.  So sub-records
 * are collected until they fill a segment; only then is the segment written.  A sub-record that is
 * larger than AG_HPROF_SEGMENT_MAX becomes a segment of its own: the length of such a segment is
 * known in advance.
 */
#ifndef JTOOL_AGENT_JVM_DUMP_HPROF_PUT_H
#define JTOOL_AGENT_JVM_DUMP_HPROF_PUT_H

#include <string.h>

#include "util/chan.h"
#include "util/hash_map.h"

enum ag_hprof_tag {
	AG_HPROF_UTF8 = 0x01,
	AG_HPROF_LOAD_CLASS = 0x02,
	AG_HPROF_FRAME = 0x04,
	AG_HPROF_TRACE = 0x05,
	AG_HPROF_SEGMENT = 0x1c,
	AG_HPROF_END = 0x2c,
};

enum ag_hprof_sub_tag {
	AG_HPROF_ROOT_UNKNOWN = 0xff,
	AG_HPROF_ROOT_JNI_GLOBAL = 0x01,
	AG_HPROF_ROOT_JNI_LOCAL = 0x02,
	AG_HPROF_ROOT_JAVA_FRAME = 0x03,
	AG_HPROF_ROOT_STICKY_CLASS = 0x05,
	AG_HPROF_ROOT_MONITOR_USED = 0x07,
	AG_HPROF_ROOT_THREAD = 0x08,
	AG_HPROF_CLASS_DUMP = 0x20,
	AG_HPROF_INSTANCE_DUMP = 0x21,
	AG_HPROF_OBJECTS_DUMP = 0x22,
	AG_HPROF_PRIMITIVES_DUMP = 0x23,
};

enum ag_hprof_type {
	AG_HPROF_NONE = 0,
	AG_HPROF_OBJECT = 2,
	AG_HPROF_BOOLEAN = 4,
	AG_HPROF_CHAR,
	AG_HPROF_FLOAT,
	AG_HPROF_DOUBLE,
	AG_HPROF_BYTE,
	AG_HPROF_SHORT,
	AG_HPROF_INT,
	AG_HPROF_LONG,
};

#define AG_HPROF_ID 8                /* size in bytes of an identifier in the file */
#define AG_HPROF_NO_TRACE 1u         /* serial number of the empty stack trace */
#define AG_HPROF_SEGMENT_MAX (1u << 20) /* maximum bytes of collected sub-records */

struct ag_hprof {
	struct ag_chan *chan;
	bool off; /* if set, nothing is written */
	struct wire_writer *piece;   /* the current DUMP_DATA frame; NULL: none */
	volatile uint64_t *progress; /* *progress is incremented with each frame; may be NULL */
	/* The members from here on are used in the child only. */
	uint8_t *segment; /* collected sub-records; has room for AG_HPROF_SEGMENT_MAX bytes */
	size_t len;       /* bytes of `segment` in use */
	bool direct;      /* the current sub-record is a segment of its own */
};

/* Returns the type of a field whose signature begins with this letter; AG_HPROF_NONE: unknown. */
enum ag_hprof_type ag_hprof_type_of(char signature);
/*
 * Returns how many bytes a value of this type has in a dump.  A reference has 8 bytes in a dump,
 * even if it has 4 in the heap.
 */
unsigned ag_hprof_size_of(enum ag_hprof_type type);

/* Appends bytes to the dump.  Does nothing if the channel is broken. */
void ag_hprof_bytes(struct ag_hprof *h, const void *data, size_t len);
/* Ends the current DUMP_DATA frame.  Call it before a frame of another type is begun. */
void ag_hprof_end_piece(struct ag_hprof *h);

/* Writes the header of the file. */
void ag_hprof_header(struct ag_hprof *h, uint64_t now_ms);
/* Writes the header of a record whose contents have `len` bytes. */
void ag_hprof_record(struct ag_hprof *h, enum ag_hprof_tag tag, uint32_t len);

/*
 * Begins a sub-record, and writes its tag.  `size` is the sub-record's size in bytes, including the
 * tag.  The functions from ag_hprof_put() to ag_hprof_u8() append to the sub-record.
 */
void ag_hprof_sub(struct ag_hprof *h, enum ag_hprof_sub_tag tag, size_t size);
void ag_hprof_put(struct ag_hprof *h, const void *data, size_t len);
void ag_hprof_u1(struct ag_hprof *h, unsigned value);
void ag_hprof_u2(struct ag_hprof *h, unsigned value);
void ag_hprof_u4(struct ag_hprof *h, uint32_t value);
void ag_hprof_u8(struct ag_hprof *h, uint64_t value);
/* Writes the collected sub-records, if any, as a segment. */
void ag_hprof_end_segment(struct ag_hprof *h);

/* Append a number to a record that is not a HEAP DUMP SEGMENT. */
void ag_hprof_record_u4(struct ag_hprof *h, uint32_t value);
void ag_hprof_record_u8(struct ag_hprof *h, uint64_t value);

/*
 * Returns the number of the text's symbol; 0 if memory is short.  Symbols are UTF8 records,
 * numbered from 1; the same text is written only once.
 */
uint32_t ag_hprof_symbol(struct ag_hprof *h, struct ag_hash_map *symbols, const char *text,
			 size_t len);

#endif
