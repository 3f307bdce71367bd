/*
 * A set of class files.  The user names paths; a path is a .class file, a directory of packages, or
 * a jar.  Each class file is read completely, and parsed to find the class's name.  The files are
 * not trusted.
 */
#ifndef JTOOL_MODEL_CLASS_CLASS_SET_H
#define JTOOL_MODEL_CLASS_CLASS_SET_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/id_map.h"

struct class_file {
	char *name;     /* the class's name in Java form: "a.b.C$D" */
	char *where;    /* "DIR/a/b/C.class", "app.jar!/a/b/C.class" */
	struct buf bytes;
	bool named;     /* the user named this .class file, not a directory or jar */
};

/*
 * If several class files define classes of the same name, only the first file is added, as on a
 * class path.  Paths are read in the given order, and the files of a directory in the order of
 * their names.  The classes of a jar precede those of the jars nested in it.
 */
struct class_set {
	struct class_file *files; /* in the order of addition */
	size_t n, cap;

	/* Returns whether a class is to be added; NULL: add all.  Set it before class_set_add(). */
	bool (*wants)(const char *name, const void *arg);
	const void *arg;

	struct id_map by_name; /* hash of the class name -> index in files */
	/* number of class files found in the current path, including those that wants() rejected */
	size_t n_seen;
	size_t total;  /* bytes of all files */
};

void class_set_release(struct class_set *set);

/*
 * Adds a .class file, or all class files below a directory or in a jar.  The classes of a jar
 * include those in BOOT-INF/classes and WEB-INF/classes, and those of the jars in BOOT-INF/lib and
 * WEB-INF/lib.  Of a class in a multi-release jar, adds the version that a JVM of JDK `release`
 * loads.  The files module-info and package-info are skipped.
 *
 * Returns 0, or -1 with err set.  EXIT_USAGE: `path` is not a class file, directory or jar, has no
 * class files, has an invalid class file, or cannot be read completely.  EXIT_ANSWER: `release` is
 * 0 (unknown), and a multi-release jar has several versions.
 */
int class_set_add(struct class_set *set, const char *path, unsigned release,
		  struct err *err) _must_check_;

/* Returns the class with this name, or NULL. */
const struct class_file *class_set_find(const struct class_set *set, const char *name);

#endif
