/*
 * Paths of dumped class files, relative to the output directory: "p/C.class".  Classes of one name
 * that belong to several loaders are in a folder per loader: "loader.app/p/C.class",
 * "loader.a.b.Loader@1f2e3d4c/p/C.class".  The folder of a package has no dot in its name.
 */
#ifndef JTOOL_MODEL_CLASS_DUMP_PATHS_H
#define JTOOL_MODEL_CLASS_DUMP_PATHS_H

#include "model/class/classes.h"

struct dump_path {
	char *name; /* NULL for an array */
	bool taken; /* an earlier class has the same path */
	bool twin;  /* an earlier class has the same path, or one that differs only in case */
};

/* Returns one path per class of a sorted list (classes_sort).  Free with dump_paths_free(). */
struct dump_path *dump_paths_new(const struct classes *c) _must_check_;
void dump_paths_free(struct dump_path *names, size_t n);

#endif
