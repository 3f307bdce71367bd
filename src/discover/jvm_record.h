/*
 * A JVM's description as bytes, between a worker and the process that has started it.
 *
 * The worker parses a target's files, so what it sends is checked like any other input.
 */
#ifndef JTOOL_DISCOVER_JVM_RECORD_H
#define JTOOL_DISCOVER_JVM_RECORD_H

#include "base/buf.h"
#include "discover/jvm.h"

/* Bytes of the longest record; longer texts of a JVM are cut by their sources. */
#define JVM_RECORD_MAX (16u << 20)

void jvm_record_add(struct buf *out, const struct jvm *jvm);

/*
 * Returns the JVM of a record, which the caller frees; NULL if the bytes are not exactly one valid
 * record.  Pure.
 */
struct jvm *jvm_record_parse(const char *data, size_t len) _must_check_;

#endif
