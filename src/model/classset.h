/*
 * Class files of the user's: a .class file, a directory with package folders, a jar.  Read
 * whole, each parsed once for its name; hostile like everything else.
 */
#ifndef JTOOL_MODEL_CLASSSET_H
#define JTOOL_MODEL_CLASSSET_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct class_file {
	char *name;     /* what the bytes call themselves, in Java form: "a.b.C$D" */
	char *where;    /* "DIR/a/b/C.class", "app.jar!/a/b/C.class" */
	struct buf bytes;
};

struct classset {
	struct class_file *files; /* in the order they were given and found */
	size_t n, cap;
};

void classset_release(struct classset *set);

/*
 * Add what a path holds: all class files below a directory; all in a jar, those in its nested
 * jars (BOOT-INF/lib, WEB-INF/lib) and below BOOT-INF/classes and WEB-INF/classes, too, and of a
 * multi-release jar those for `release` where it has some.  module-info and package-info are
 * left out.  -1 with err set: EXIT_USAGE when it is none of them or not to be read, or when one
 * is no class file.
 */
int classset_add(struct classset *set, const char *path, unsigned release, struct err *err)
	_must_check_;

/* The first with this name, or NULL. */
const struct class_file *classset_find(const struct classset *set, const char *name);

#endif
