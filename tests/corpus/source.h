/*
 * Where class files come from in masses: jars, directories, single class files, and the image
 * that a JDK 9 or later keeps its modules in (lib/modules).
 *
 * Of a class file its set is told, too: the jar's or directory's name without path and suffix,
 * or the module.
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

/* NULL when done, else why not; module-info and package-info are not told. */
const char *corpus_read(const char *path, corpus_take *take, void *arg);

/* The image, of which the whole file is in data. */
const char *corpus_read_image(const uint8_t *data, size_t len, corpus_take *take, void *arg);

/* Not those that only describe a package or a module. */
bool corpus_is_class(const char *path, size_t len);

#endif
