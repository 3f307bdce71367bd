/* Saves and loads JSON documents, for --save and --diff. */
#ifndef JTOOL_CMD_JSON_FILE_H
#define JTOOL_CMD_JSON_FILE_H

#include "base/err.h"
#include "render/json.h"

/*
 * Writes the document.  A regular file is replaced atomically and keeps its mode; a symbolic link
 * is followed.  Anything else (a pipe, a device, "-" for stdout) is written to.
 */
int json_file_save(const struct json *doc, const char *path, struct err *err) _must_check_;

/* Returns -1 with err set if the file cannot be read; *doc is NULL if it is not JSON. */
int json_file_load(const char *path, struct json **doc, struct err *err) _must_check_;

#endif
