/*
 * Class files of the user's: a .class file, a directory with package folders, a jar.  Read
 * whole, each parsed once for its name; hostile like everything else.
 */
#ifndef JTOOL_MODEL_CLASSSET_H
#define JTOOL_MODEL_CLASSSET_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct class_file {
	char *name;     /* what the bytes call themselves, in Java form: "a.b.C$D" */
	char *where;    /* "DIR/a/b/C.class", "app.jar!/a/b/C.class" */
	struct buf bytes;
	bool named;     /* the path that was given is this very file, no directory or jar */
};

/*
 * Of several with one name the first wins, as on a class path, and the others are left out: what
 * was given before what was given later, in a directory by the names of its files, in a jar its
 * own classes before those of its nested jars.
 */
struct classset {
	struct class_file *files; /* in the order they were given and found */
	size_t n, cap;

	/* NULL, or which names are to be kept; set before the first is added */
	bool (*wants)(const char *name, const void *arg);
	const void *arg;

	size_t *places;  /* by a hash of the name: the number in files + 1, or 0 */
	size_t n_places; /* a power of 2 */
	size_t n_seen;   /* class files in the path that is being added, kept or not */
	size_t total;    /* bytes of all */
};

void classset_release(struct classset *set);

/*
 * Add what a path holds: all class files below a directory; all in a jar, those in its nested
 * jars (BOOT-INF/lib, WEB-INF/lib) and below BOOT-INF/classes and WEB-INF/classes, too, and of a
 * multi-release jar those for `release` where it has some.  module-info and package-info are
 * left out.  release: 0 when it is not known, and then as for 8, which knows no multi-release
 * jars.  -1 with err set, EXIT_USAGE: it is none of them, holds no class file, or cannot be read
 * in some part, which is named; EXIT_ANSWER: what should be a class file is none, which is what
 * the JVM would say, too.
 */
int classset_add(struct classset *set, const char *path, unsigned release, struct err *err)
	_must_check_;

/* The first with this name, or NULL. */
const struct class_file *classset_find(const struct classset *set, const char *name);

#endif
