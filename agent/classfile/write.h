/* Writes big-endian values to a growing buffer, with a sticky error. */
#ifndef JTOOL_AGENT_CLASSFILE_WRITE_H
#define JTOOL_AGENT_CLASSFILE_WRITE_H

#include "util/mem.h"
#include "classfile/bytes.h"

struct cf_output {
	struct ag_mem *mem;
	uint8_t *data; /* memory of ag_alloc(); cf_output_release() frees it */
	size_t len, cap;
	bool failed; /* out of memory; further writes do nothing */
};

void cf_output_release(struct cf_output *out);

void cf_put(struct cf_output *out, const void *data, size_t len);
void cf_put_u1(struct cf_output *out, uint8_t value);
void cf_put_u2(struct cf_output *out, uint16_t value);
void cf_put_u4(struct cf_output *out, uint32_t value);

/*
 * Overwrite bytes at the offset `at`, for counts that are known only after the counted data is
 * written.  Ignore offsets past the end.
 */
void cf_set_u1(struct cf_output *out, size_t at, uint8_t value);
void cf_set_u2(struct cf_output *out, size_t at, uint16_t value);
void cf_set_u4(struct cf_output *out, size_t at, uint32_t value);

#endif
