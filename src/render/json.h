/*
 * JSON documents (RFC 8259), built as a tree and printed at once, or read back.  A document is
 * an object or an array.  A thin cover over json-c, which no other file knows.  Texts from the
 * JVM may be no UTF-8: what is not is replaced by U+FFFD.  Putting a key twice is the caller's
 * mistake and not looked for.
 */
#ifndef JTOOL_RENDER_JSON_H
#define JTOOL_RENDER_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/util.h"

struct json;

struct json *json_object(void);
struct json *json_array(void);
void json_free(struct json *node); /* NULL is allowed */

/* Into an object (key) or at the end of an array (key NULL).  A NULL text becomes null. */
void json_put_text(struct json *parent, const char *key, const char *text);
void json_put_text_len(struct json *parent, const char *key, const char *text, size_t len);
void json_put_number(struct json *parent, const char *key, int64_t value);
void json_put_unsigned(struct json *parent, const char *key, uint64_t value);
void json_put_real(struct json *parent, const char *key, double value);
void json_put_bool(struct json *parent, const char *key, bool value);
void json_put_null(struct json *parent, const char *key);
/* The child becomes the parent's. */
void json_put(struct json *parent, const char *key, struct json *child);

/* One document and a newline; slashes are not escaped. */
void json_print(const struct json *node, FILE *out);
void json_print_take(struct json *node, FILE *out); /* and free it */
/* The same at the end of a buffer, without the newline: a part of a larger document. */
void json_add(struct buf *out, const struct json *node);

/* Reading.  NULL when it is no JSON; the caller frees it. */
struct json *json_parse(const char *text, size_t len) _must_check_;
/*
 * Members of an object, NULL or `absent` when there is none of that kind; the object's.  The
 * object, the array and the node may be NULL: then nothing is there, so that calls can nest.
 */
const struct json *json_get(const struct json *node, const char *key);
const char *json_get_text(const struct json *node, const char *key);
int64_t json_get_number(const struct json *node, const char *key, int64_t absent);
bool json_get_bool(const struct json *node, const char *key, bool absent);
size_t json_length(const struct json *array);
const struct json *json_at(const struct json *array, size_t i);

#endif
