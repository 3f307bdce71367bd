/*
 * A record: a description of a JVM, as bytes that a worker sends to the process that has started
 * the worker.
 *
 * The worker parses a target's files, so the record is checked like any other input.
 */
#ifndef JTOOL_DISCOVER_JVM_RECORD_H
#define JTOOL_DISCOVER_JVM_RECORD_H

#include "base/buf.h"
#include "discover/jvm.h"

/*
 * Limit for a record in bytes.  It is higher than the limits for the files from which the worker
 * reads the texts of a record.
 */
#define JVM_RECORD_MAX (16u << 20)

void jvm_record_add(struct buf *out, const struct jvm *jvm);

/*
 * Returns the JVM of a record; NULL if the bytes are not exactly one valid record.  The caller
 * frees the JVM.  Does no I/O.
 */
struct jvm *jvm_record_parse(const char *data, size_t len) _must_check_;

#endif
