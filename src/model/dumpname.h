/*
 * What the class files of a dump are called, below its directory: "p/C.class", and where several
 * loaders have a class of one name, each of these in a folder of its loader:
 * "loader.app/p/C.class", "loader.a.b.Loader@1f2e3d4c/p/C.class".  No package is called so.
 */
#ifndef JTOOL_MODEL_DUMPNAME_H
#define JTOOL_MODEL_DUMPNAME_H

#include "model/classes.h"

struct dumpname {
	char *name; /* NULL of an array */
	bool taken; /* another class has the same one */
	bool twin;  /* another class has it but for upper and lower case */
};

/* Of all classes, which are sorted (classes_sort); one for each, to be freed. */
struct dumpname *dumpname_all(const struct classes *c) _must_check_;
void dumpname_free(struct dumpname *names, size_t n);

#endif
