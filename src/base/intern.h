/* Numbers byte strings 0, 1, 2, … as they are added.  Equal strings have the same number. */
#ifndef JTOOL_BASE_INTERN_H
#define JTOOL_BASE_INTERN_H

#include <stdint.h>

#include "base/buf.h"
#include "base/id_map.h"

struct intern {
	struct buf bytes;
	size_t *ends; /* ends[i]: offset in bytes of the end of string i */
	size_t n, cap;
	struct id_map numbers; /* maps the hash of a string to the string's number */
};

void intern_release(struct intern *in);

/*
 * Adds a string, unless an equal one was added before.  Returns the string's number.  The caller
 * must add fewer than 2^32 different strings.
 */
uint32_t intern_add(struct intern *in, const void *data, size_t len);
/* Returns the number of a string; ID_MAP_NONE if it was not added. */
uint32_t intern_find(const struct intern *in, const void *data, size_t len);
/* Adds a C string, including its NUL, as intern_add() does. */
uint32_t intern_text(struct intern *in, const char *text);
/*
 * Returns the string with this number; the returned pointer is valid until a string is added.  Sets
 * *len to the string's length in bytes; `len` may be NULL.
 */
const void *intern_get(const struct intern *in, uint32_t number, size_t *len);

#endif
