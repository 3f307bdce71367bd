/* Reads a recording in memory ahead of its reader, for jfr_read_ahead(). */
#ifndef JTOOL_TESTS_JFR_MEMORY_AHEAD_H
#define JTOOL_TESTS_JFR_MEMORY_AHEAD_H

#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_reader.h"

/*
 * Every block is an allocation of its own, which is freed when it becomes invalid:
 * AddressSanitizer detects accesses beyond it and after that.
 */
struct memory_ahead {
	const uint8_t *file;
	size_t block;	     /* size of a block in bytes */
	size_t tail_max;     /* a longer tail is refused */
	unsigned refuse;     /* every how many-th block is refused; 0: none */
	uint64_t at, end;    /* the part of the file that was announced and not given yet */
	unsigned calls, starts, given;
	uint8_t *given_last; /* the block that is valid; owned, see memory_ahead_release() */
};

static inline void memory_ahead_release(struct memory_ahead *m)
{
	free(m->given_last);
	m->given_last = NULL;
}

static inline void memory_ahead_start(struct memory_ahead *m, uint64_t at, uint64_t end)
{
	memory_ahead_release(m);
	m->at = at;
	m->end = end;
	m->starts++;
}

static inline const uint8_t *memory_ahead_next(struct memory_ahead *m, const uint8_t *tail,
					       size_t tail_len, size_t *len)
{
	size_t left = (size_t)(m->end - m->at), n = left < m->block ? left : m->block;
	uint8_t *block;

	if (n == 0 || tail_len > m->tail_max || (m->refuse && ++m->calls % m->refuse == 0))
		return NULL;
	block = xmalloc(tail_len + n);
	memcpy(block, tail, tail_len);
	memcpy(block + tail_len, m->file + m->at, n);
	free(m->given_last);
	m->given_last = block;
	m->at += n;
	m->given++;
	*len = tail_len + n;
	return block;
}

#endif
