/*
 * Reads a part of a file, block by block, in a thread.  While the caller works on one block, the
 * thread reads the next ones.
 */
#ifndef JTOOL_CMD_JFR_READ_AHEAD_H
#define JTOOL_CMD_JFR_READ_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

#define READ_AHEAD_BLOCK (128u << 10)	/* size of a block in bytes; the last block is smaller */
#define READ_AHEAD_TAIL_MAX (4u << 10) /* most bytes of a block that can precede the next block */

struct read_ahead;

/*
 * Starts the thread for the open file `fd`, which must stay open until read_ahead_free().  Returns
 * NULL if no thread can be started, or if the process may use only one processor.
 */
struct read_ahead *read_ahead_new(int fd);
void read_ahead_free(struct read_ahead *ra); /* NULL is allowed */

/* Makes the thread read the bytes from `at` to before `end`.  Earlier blocks become invalid. */
void read_ahead_start(struct read_ahead *ra, uint64_t at, uint64_t end);
/*
 * Returns the `tail_len` bytes at `tail`, and after them the next block.  Sets *len to the length
 * of both.  `tail` may lie in the previous block, which becomes invalid.  Returns NULL at the end
 * of the part, if the file cannot be read, or if tail_len exceeds READ_AHEAD_TAIL_MAX; the previous
 * block stays valid then.
 */
const uint8_t *read_ahead_next(struct read_ahead *ra, const uint8_t *tail, size_t tail_len,
			       size_t *len) _must_check_;

#endif
