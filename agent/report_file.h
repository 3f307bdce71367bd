/*
 * A file that is written beside its place and then takes it, with what others may read of it left
 * to nobody; without a C library's buffers.
 */
#ifndef JTOOL_AGENT_REPORT_FILE_H
#define JTOOL_AGENT_REPORT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "startup_options.h"

struct ag_file {
	int fd, error; /* the first errno */
	size_t n;      /* bytes in data that are not written */
	char temporary[AG_PATH_MAX];
	char data[16384];
};

/* Each returns 0, or -1 with error set. */
int ag_file_open(struct ag_file *file, const char *path, uint32_t pid);
/* Errors wait for the end. */
void ag_file_put(struct ag_file *file, const char *data, size_t len);
/* Give it its place; on an error it is gone. */
int ag_file_finish(struct ag_file *file, const char *path);
/* It is not wanted. */
void ag_file_drop(struct ag_file *file);

/* What an errno means, in a constant. */
const char *ag_file_why(int error);

#endif
