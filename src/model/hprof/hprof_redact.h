/*
 * Removes an application's data from a heap dump (HPROF) while the dump passes through.
 *
 * Data are overwritten with zeros, so the dump keeps its length.  enum hprof_redact says which
 * fields and array elements are overwritten.  HPROF_REDACT_STRINGS and HPROF_REDACT_ALL also
 * overwrite:
 * - symbols that do not name a class, method, field, signature or source file: HotSpot dumps all
 *   its symbols, and some of them are string constants of class files;
 * - int fields named "hash" or "hashCode", because a hash code reveals a short string.
 *
 * The following stay in the dump: names of classes and of their members, addresses, array lengths
 * and references.
 *
 * A dump is untrusted.  A record that the redactor cannot interpret is an error, for example an
 * instance that precedes the CLASS_DUMP of its class: no byte of the record is passed on.
 *
 * HotSpot writes names and classes before the first object.  The redactor stores this part of the
 * dump, and passes it on at the first object, when it knows which symbols are names.
 */
#ifndef JTOOL_MODEL_HPROF_HPROF_REDACT_H
#define JTOOL_MODEL_HPROF_HPROF_REDACT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum hprof_redact {
	HPROF_REDACT_NOTHING,
	HPROF_REDACT_STRINGS, /* overwrite the elements of char[] and byte[] */
	/* overwrite all primitive array elements and all primitive fields but StackChunk.size */
	HPROF_REDACT_ALL,
};

/* A function that receives the next bytes of the redacted dump.  Returns 0, or -1 with err set. */
typedef int hprof_redact_out(void *arg, const uint8_t *data, size_t len, struct err *err);

struct hprof_redactor;

/*
 * Returns a redactor, which passes the redacted dump to out(arg, …).  `max_memory` limits the bytes
 * for names and classes.  The caller frees the result with hprof_redactor_free().
 */
struct hprof_redactor *hprof_redactor_new(enum hprof_redact what, size_t max_memory,
					  hprof_redact_out *out, void *arg) _must_check_;
void hprof_redactor_free(struct hprof_redactor *r); /* NULL is allowed */

/*
 * Redacts `data`, the next bytes of a dump, and passes them to out().  `data` may end anywhere in a
 * record, and may be overwritten.  Returns 0, or -1 with err set: EXIT_USAGE if this is not a heap
 * dump, EXIT_PARTIAL if it is invalid or too large, or the error of out().  After an error, the
 * redactor can only be freed.
 */
int hprof_redactor_take(struct hprof_redactor *r, uint8_t *data, size_t len, struct err *err)
	_must_check_;
/* Call this at the end of the dump.  Returns -1 with err set if the dump is not complete. */
int hprof_redactor_end(struct hprof_redactor *r, struct err *err) _must_check_;

#endif
