#include "classfile/stackmap.h"

struct cf_map_entry cf_map_entry(struct cf_bytes *bytes)
{
	struct cf_map_entry entry = { .frame_type = cf_u1(bytes) };
	uint8_t type = entry.frame_type;

	bytes->failed |= cf_map_is_reserved(type);
	entry.delta = type < CF_MAP_RESERVED ? type % CF_MAP_STACK_1 : cf_u2(bytes);
	if (type == CF_MAP_FULL)
		entry.n_locals = cf_u2(bytes);
	else if (type >= CF_MAP_APPEND)
		entry.n_locals = type - CF_MAP_SAME_EXTENDED;
	else if (type >= CF_MAP_CHOP)
		entry.n_chopped = (uint8_t)(CF_MAP_SAME_EXTENDED - type);
	return entry;
}

uint16_t cf_map_stack(struct cf_bytes *bytes, const struct cf_map_entry *entry)
{
	if (entry->frame_type == CF_MAP_FULL)
		return cf_u2(bytes);
	return (entry->frame_type >= CF_MAP_STACK_1 && entry->frame_type < CF_MAP_RESERVED) ||
	       entry->frame_type == CF_MAP_STACK_1_EXTENDED;
}

struct cf_map_type cf_map_type(struct cf_bytes *bytes)
{
	struct cf_map_type type = { .tag = cf_u1(bytes) };

	if (type.tag > CF_MAP_UNINIT)
		bytes->failed = true;
	else if (type.tag >= CF_MAP_OBJECT)
		type.of = cf_u2(bytes);
	return type;
}
