/*
 * Reads the entries of a StackMapTable (JVMS 4.7.4).  An entry describes a stack map frame by its
 * difference from the previous frame; the caller applies the difference.
 *
 * The caller reads an entry in four steps, and can check each part before it reads the next:
 *  1. cf_map_entry(),
 *  2. cf_map_type() for each local variable,
 *  3. cf_map_stack(),
 *  4. cf_map_type() for each stack cell.
 * These functions set bytes->failed if bytes are missing or a tag or frame_type is unknown.
 */
#ifndef JTOOL_AGENT_CLASSFILE_STACKMAP_H
#define JTOOL_AGENT_CLASSFILE_STACKMAP_H

#include "classfile/bytes.h"

/* The lowest frame_type of each kind of entry. */
enum cf_map_frame {
	CF_MAP_SAME = 0,
	CF_MAP_STACK_1 = 64,
	CF_MAP_RESERVED = 128,
	CF_MAP_STACK_1_EXTENDED = 247,
	CF_MAP_CHOP = 248,
	CF_MAP_SAME_EXTENDED = 251,
	CF_MAP_APPEND = 252,
	CF_MAP_FULL = 255,
};

struct cf_map_entry {
	uint8_t frame_type;
	uint8_t n_chopped; /* number of locals that are removed from those of the previous frame */
	uint16_t delta;    /* pc minus (1 + pc of the previous frame); first entry: the pc */
	uint16_t n_locals; /* number of locals that the entry adds or, in a full frame, has */
};

struct cf_map_entry cf_map_entry(struct cf_bytes *bytes);
/* Returns the number of the frame's stack cells.  Call it after the locals are read. */
uint16_t cf_map_stack(struct cf_bytes *bytes, const struct cf_map_entry *entry);

static inline bool cf_map_is_reserved(uint8_t frame_type)
{
	return frame_type >= CF_MAP_RESERVED && frame_type < CF_MAP_STACK_1_EXTENDED;
}

/* The verification_type_info tags. */
enum cf_map_tag {
	CF_MAP_TOP,
	CF_MAP_INTEGER,
	CF_MAP_FLOAT,
	CF_MAP_DOUBLE,
	CF_MAP_LONG,
	CF_MAP_NULL,
	CF_MAP_UNINIT_THIS,
	CF_MAP_OBJECT, /* an object of the class in the Class constant `of` */
	CF_MAP_UNINIT, /* an uninitialised object, allocated by the `new` at pc `of` */
};

struct cf_map_type {
	uint8_t tag; /* greater than CF_MAP_UNINIT: invalid */
	uint16_t of;
};

struct cf_map_type cf_map_type(struct cf_bytes *bytes);

#endif
