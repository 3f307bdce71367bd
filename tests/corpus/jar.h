/* Writes jars with stored (uncompressed) entries. */
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

/* Creates the file. Returns false with errno set on failure. */
bool jar_open(struct jar *jar, const char *name, const char *path);
/* Adds an entry. Errors are reported by jar_close(). */
void jar_add(struct jar *jar, const char *entry, const void *data, size_t len);
/* Finishes and releases the jar. Returns false if some of it could not be written. */
bool jar_close(struct jar *jar);

#endif
