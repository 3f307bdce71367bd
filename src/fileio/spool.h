/*
 * Bytes of unknown number, kept in memory and, beyond a bound, in an unlinked file: what a JVM
 * sends is taken from it at once, whoever reads the result how slowly.
 */
#ifndef JTOOL_BASE_SPOOL_H
#define JTOOL_BASE_SPOOL_H

#include <stdint.h>

#include "base/buf.h"

#define SPOOL_MEMORY_MAX (64u * 1024 * 1024)

struct spool {
	struct buf memory; /* the first bytes */
	int file;          /* the rest; -1 while there is none */
	uint64_t file_len;
};

#define SPOOL_INIT { BUF_INIT, -1, 0 }

/* Append.  0, or a negative errno when the file cannot take more. */
int spool_add(struct spool *s, const void *data, size_t len) _must_check_;
/* Remove the first n bytes, which must be in memory (n <= memory.len). */
void spool_skip(struct spool *s, size_t n);
uint64_t spool_len(const struct spool *s);
/* Write everything to a descriptor.  0 or a negative errno. */
int spool_write(const struct spool *s, int fd) _must_check_;
/* Append everything to a buffer.  0, -EFBIG over max, or a negative errno. */
int spool_text(const struct spool *s, struct buf *out, size_t max) _must_check_;
void spool_release(struct spool *s);

#endif
