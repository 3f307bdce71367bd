/* Jars that are written: entries stored as they are, one after the other. */
#ifndef JTOOL_TESTS_CORPUS_JAR_H
#define JTOOL_TESTS_CORPUS_JAR_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"

struct jar {
	char *name;
	FILE *file;
	struct buf directory;
	unsigned n;
};

/* The file is made anew; false: errno says why. */
bool jar_open(struct jar *jar, const char *name, const char *path);
/* A failure shows at the end. */
void jar_add(struct jar *jar, const char *entry, const void *data, size_t len);
/* Release it; false: some of it could not be written. */
bool jar_close(struct jar *jar);

#endif
