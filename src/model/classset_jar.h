/*
 * Between the parts of classset: what a set takes, and the jars that it takes it from.
 */
#ifndef JTOOL_MODEL_CLASSSET_JAR_H
#define JTOOL_MODEL_CLASSSET_JAR_H

#include "model/classset.h"

/* Far beyond any class file. */
#define CLASSSET_CLASS_MAX (64u << 20)

/* One class file; its bytes are taken over, whatever comes of it.  where is copied. */
int classset_take(struct classset *set, const char *where, struct buf *bytes, struct err *err)
	_must_check_;

/* All of a jar that is open and has len bytes; path is what it is called. */
int classset_add_jar(struct classset *set, const char *path, int fd, uint64_t len,
		     unsigned release, struct err *err) _must_check_;

#endif
