/*
 * Reads class files in bulk: from jars, directories, single class files, and the module image of
 * JDK 9 and later (lib/modules).
 *
 * Each class file has a set: the name of the jar or directory without path and suffix, or the
 * module.
 */
#ifndef JTOOL_TESTS_CORPUS_SOURCE_H
#define JTOOL_TESTS_CORPUS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct corpus_file {
	const char *set;
	const char *path; /* "java/lang/Object.class" */
	const uint8_t *data;
	size_t len;
};

typedef void corpus_take(void *arg, const struct corpus_file *file);

/* Returns NULL, or the error; skips module-info and package-info. */
const char *corpus_read(const char *path, corpus_take *take, void *arg);

/* Reads an image; data has the complete file. */
const char *corpus_read_image(const uint8_t *data, size_t len, corpus_take *take, void *arg);

/* Returns false for descriptions of a package or a module. */
bool corpus_is_class(const char *path, size_t len);

#endif
