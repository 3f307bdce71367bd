/*
 * Paths of dumped class files, relative to the output directory: "p/C.class".  If several loaders
 * have defined classes of the same name, the path of each begins with a folder for its loader:
 * "loader.app/p/C.class", "loader.a.b.Loader@1f2e3d4c/p/C.class".  The name of a package's folder
 * has no dot, so it differs from that of every loader's folder.
 */
#ifndef JTOOL_MODEL_CLASS_DUMP_PATHS_H
#define JTOOL_MODEL_CLASS_DUMP_PATHS_H

#include "model/class/classes.h"

struct dump_path {
	char *name; /* the path; NULL for an array, which has no class file */
	bool taken; /* a class before this one in the list has the same path */
	/* set for all but one of the classes whose paths are equal, or differ only in case */
	bool twin;
};

/*
 * Returns an array with one path for each class of a list that was sorted by classes_sort().  Free
 * it with dump_paths_free().
 */
struct dump_path *dump_paths_new(const struct classes *c) _must_check_;
void dump_paths_free(struct dump_path *names, size_t n);

#endif
