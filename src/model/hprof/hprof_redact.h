/*
 * Removes an application's data from a heap dump (HPROF) while the dump passes through.
 *
 * Data are overwritten with zeros, so the dump keeps its length.  enum hprof_redact says which
 * fields and array elements.  HPROF_REDACT_STRINGS and HPROF_REDACT_ALL also overwrite:
 * - symbols that do not name a class, method, field, signature or source file, because HotSpot
 *   dumps all its symbols, and some of them are string constants of class files;
 * - int fields named "hash" or "hashCode", because a hash code reveals a short string.
 *
 * Names of classes and of their members, addresses, array lengths and references stay.
 *
 * A dump is untrusted.  A record that the redactor cannot interpret, such as an instance before its
 * class, is an error: no byte of it is passed on.  The redactor needs memory for names and classes
 * only: in HotSpot's dumps these precede the first object, and the redactor passes on nothing
 * before it has read the first object.
 */
#ifndef JTOOL_MODEL_HPROF_HPROF_REDACT_H
#define JTOOL_MODEL_HPROF_HPROF_REDACT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum hprof_redact {
	HPROF_REDACT_NOTHING,
	HPROF_REDACT_STRINGS, /* the elements of char[] and byte[] */
	HPROF_REDACT_ALL,     /* all primitive fields and elements, except StackChunk.size */
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
 * Redacts the next bytes of a dump, which may be split anywhere, and passes them to out(); may
 * change `data`.  Returns 0, or -1 with err set, after which the redactor can only be freed:
 * EXIT_USAGE if this is not a heap dump, EXIT_PARTIAL if it is invalid or too large, or the error
 * of out().
 */
int hprof_redactor_take(struct hprof_redactor *r, uint8_t *data, size_t len, struct err *err)
	_must_check_;
/* Ends the dump.  Returns -1 with err set if it is not complete. */
int hprof_redactor_end(struct hprof_redactor *r, struct err *err) _must_check_;

#endif
