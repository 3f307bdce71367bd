/* Functions that the class_set*.c files share. */
#ifndef JTOOL_MODEL_CLASS_CLASS_SET_INTERNAL_H
#define JTOOL_MODEL_CLASS_CLASS_SET_INTERNAL_H

#include "model/class/class_set.h"

/* Limit in bytes for one class file. */
#define CLASS_SET_CLASS_MAX (64u << 20)

/*
 * Defined in class_set.c: adds one class file.  Always takes ownership of *bytes; `where` is
 * copied.
 */
int class_set_take(struct class_set *set, const char *where, struct buf *bytes,
		   struct err *err) _must_check_;

/*
 * Defined in class_set_jar.c: adds the class files in the open jar `fd`, which has `len` bytes.
 * `path` is the jar's name in messages.
 */
int class_set_add_jar(struct class_set *set, const char *path, int fd, uint64_t len,
		      unsigned release, struct err *err) _must_check_;

#endif
