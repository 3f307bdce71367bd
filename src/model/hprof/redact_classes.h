/* Which bytes of a class's instances are values to be removed.  Private to hprof_redact.c. */
#ifndef JTOOL_MODEL_HPROF_REDACT_CLASSES_H
#define JTOOL_MODEL_HPROF_REDACT_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/id_map.h"

/* A class, while its CLASS_DUMP is read and afterwards. */
struct redact_class {
	uint64_t super;
	size_t fields, n_fields; /* own fields: bytes in redact_classes.fields */
	/* Of instances: lengths of bytes to pass, to clear, to pass, …, in redact_classes.runs. */
	bool known;
	size_t runs, n_runs;
	uint64_t data_len; /* bytes of an instance in the dump */
};

/* A zero-initialised struct is empty. */
struct redact_classes {
	struct redact_class *list;
	size_t n, cap;
	struct id_map ids;
	struct buf fields; /* a byte per field: its size, and REDACT_CLEAR */
	uint32_t *runs;
	size_t n_runs, cap_runs;
};
#define REDACT_CLEAR 0x10

void redact_classes_release(struct redact_classes *c);
/* Returns the bytes that the classes occupy. */
size_t redact_classes_memory(const struct redact_classes *c);

/* Begins a class; its fields follow.  Returns -1 if this class is known already. */
int redact_classes_begin(struct redact_classes *c, uint64_t id, uint64_t super) _must_check_;
void redact_classes_field(struct redact_classes *c, unsigned size, bool clear);

/*
 * Returns the class of an instance with `len` bytes, with its runs, or NULL with the reason in
 * *why.  Valid until the next begin.
 */
const struct redact_class *redact_classes_find(struct redact_classes *c, uint64_t id, uint64_t len,
					       const char **why) _must_check_;

#endif
