/* Numbers byte strings 0, 1, 2, … in the order of addition; equal strings get the same number. */
#ifndef JTOOL_BASE_INTERN_H
#define JTOOL_BASE_INTERN_H

#include <stdint.h>

#include "base/buf.h"
#include "base/id_map.h"

struct intern {
	struct buf bytes;
	size_t *ends; /* ends[i]: offset in bytes of the end of string i */
	size_t n, cap;
	struct id_map numbers; /* maps a string's hash to its number; see id_map.h */
};

void intern_release(struct intern *in);

/*
 * Adds a string unless it was added before.  Returns its number.  The caller adds fewer than 2^32
 * strings.
 */
uint32_t intern_add(struct intern *in, const void *data, size_t len);
/* Adds a C string, including its NUL, like intern_add(). */
uint32_t intern_text(struct intern *in, const char *text);
/*
 * Returns the string with this number, valid until the next addition.  Sets *len to its length in
 * bytes; len may be NULL.
 */
const void *intern_get(const struct intern *in, uint32_t number, size_t *len);

#endif
