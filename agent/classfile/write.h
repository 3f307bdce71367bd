/*
 * Writing class files: big-endian bytes into memory that grows, with a sticky error.  What was
 * written may be read and changed by its offset, for counts and lengths that are known later.
 */
#ifndef JTOOL_CLASSFILE_WRITE_H
#define JTOOL_CLASSFILE_WRITE_H

#include "base/mem.h"
#include "classfile/bytes.h"

struct cf_output {
	struct ag_mem *mem;
	uint8_t *data; /* ag_alloc's; its owner frees it with cf_output_release */
	size_t len, cap;
	bool failed; /* no memory: all that follows does nothing */
};

void cf_output_release(struct cf_output *out);

void cf_put(struct cf_output *out, const void *data, size_t len);
void cf_put_u1(struct cf_output *out, uint8_t value);
void cf_put_u2(struct cf_output *out, uint16_t value);
void cf_put_u4(struct cf_output *out, uint32_t value);

/* Change what was written at an offset; nothing happens when it was not. */
void cf_set_u1(struct cf_output *out, size_t at, uint8_t value);
void cf_set_u2(struct cf_output *out, size_t at, uint16_t value);
void cf_set_u4(struct cf_output *out, size_t at, uint32_t value);

#endif
