/* Saves and loads JSON documents, for --save and --diff. */
#ifndef JTOOL_CMD_JSON_FILE_H
#define JTOOL_CMD_JSON_FILE_H

#include "base/err.h"
#include "render/json.h"

/*
 * Writes the document to a file.  A regular file is replaced atomically and keeps its mode; a
 * symbolic link is followed.  A pipe, a device, or "-" (stdout) is written to directly.
 */
int json_file_save(const struct json *doc, const char *path, struct err *err) _must_check_;

/*
 * Reads a document from a file.  Returns 0 with the document in *doc, which the caller frees; *doc
 * is NULL if the file is not JSON.  Returns -1 with err set if the file cannot be read.
 */
int json_file_load(const char *path, struct json **doc, struct err *err) _must_check_;

#endif
