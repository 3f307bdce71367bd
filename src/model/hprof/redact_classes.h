/*
 * Records, for each class, which bytes of an instance are values that must be removed.  Private to
 * hprof_redact.c and redact_dump.c.
 */
#ifndef JTOOL_MODEL_HPROF_REDACT_CLASSES_H
#define JTOOL_MODEL_HPROF_REDACT_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/id_map.h"

/* A class, during and after the reading of its CLASS_DUMP. */
struct redact_class {
	uint64_t super;
	size_t fields, n_fields; /* index and number of its own fields in redact_classes.fields */
	/*
	 * If `known`, the members below are set.  The class's runs are redact_classes.runs[runs] to
	 * [runs + n_runs - 1].  Each run is a number of bytes: the bytes of the first run are
	 * copied unchanged, those of the second are cleared, and so on in turn.
	 */
	bool known;
	size_t runs, n_runs;
	uint64_t data_len; /* bytes of all field values of an instance in the dump */
};

/* A zero-initialised struct has no classes. */
struct redact_classes {
	struct redact_class *list;
	size_t n, cap;
	struct id_map ids;
	/*
	 * one byte for each field: the size of the field in bytes, with the bit REDACT_CLEAR if the
	 * field's value is removed
	 */
	struct buf fields;
	uint32_t *runs;
	size_t n_runs, cap_runs;
};
#define REDACT_CLEAR 0x10

void redact_classes_release(struct redact_classes *c);
/* Returns how many bytes of memory *c uses. */
size_t redact_classes_memory(const struct redact_classes *c);

/*
 * Adds a class.  The caller then calls redact_classes_field() for each of the class's own fields.
 * Returns -1 if the class exists already.
 */
int redact_classes_begin(struct redact_classes *c, uint64_t id, uint64_t super) _must_check_;
void redact_classes_field(struct redact_classes *c, unsigned size, bool clear);

/*
 * Returns the class `id`, with redact_class.runs computed.  `len`: bytes of the field values of an
 * instance in the dump.  Returns NULL with the reason in *why if the class is unknown or its fields
 * do not take `len` bytes.  The result is valid until the next redact_classes_begin().
 */
const struct redact_class *redact_classes_find(struct redact_classes *c, uint64_t id, uint64_t len,
					       const char **why) _must_check_;

#endif
