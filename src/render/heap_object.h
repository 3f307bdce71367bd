/*
 * What an object of a walked heap is called where people read of it.
 */
#ifndef JTOOL_RENDER_HEAP_OBJECT_H
#define JTOOL_RENDER_HEAP_OBJECT_H

#include "model/heap.h"

/*
 * "a.b.C", "class a.b.C" for the class object, "byte[512]", "int[3][]",
 * "java.lang.Thread "main"", "java.lang.String "its first characters …"" where they were told.
 * Hostile: for text_printable().
 */
void heap_object_name(struct buf *out, const struct heap *h, uint32_t node);

/* The name of the thread that lives and is this object; NULL: it is none, or has no name. */
const char *heap_object_thread(const struct heap *h, uint32_t node);

/* The first characters of a String, as UTF-8; false: it is none, or they were not told. */
bool heap_object_text(struct buf *out, const struct heap *h, uint32_t node);

#endif
