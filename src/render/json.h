/*
 * JSON documents (RFC 8259): builds a tree and prints it, or parses one.  The only user of json-c.
 *
 * Invalid UTF-8 in texts is replaced by U+FFFD.  Characters that could drive a terminal are printed
 * as \uNNNN, wherever the document goes.  The caller must not add a key twice; that is not
 * checked.  Out of memory ends the process.
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

/* Add a value to an object, or to an array if key is NULL.  A NULL text becomes null. */
void json_put_text(struct json *parent, const char *key, const char *text);
void json_put_text_len(struct json *parent, const char *key, const char *text, size_t len);
void json_put_number(struct json *parent, const char *key, int64_t value);
void json_put_unsigned(struct json *parent, const char *key, uint64_t value);
void json_put_real(struct json *parent, const char *key, double value);
void json_put_bool(struct json *parent, const char *key, bool value);
void json_put_null(struct json *parent, const char *key);
/* Adds the value, or null if it is not known. */
void json_put_known(struct json *parent, const char *key, bool known, uint64_t value);
/* The parent takes ownership of the child. */
void json_put(struct json *parent, const char *key, struct json *child);

/* Every document is an object that begins with this member, the version of the keys. */
#define JSON_SCHEMA "\"schema\":1"

/* Prints a document and a newline; slashes are not escaped.  The schema is added to an object. */
void json_print(const struct json *node, FILE *out);
void json_print_take(struct json *node, FILE *out); /* also frees it */
/*
 * Prints an object, which has a member, with one more, a long text, in memory that does not grow
 * with the text.  The key is a constant without special characters.
 */
void json_print_with_text(const struct json *node, const char *key, const char *text, size_t len,
			  FILE *out);
/* Appends a document without a newline. */
void json_add_document(struct buf *out, const struct json *node);
/* Appends the JSON text without a newline, as a part of a larger document. */
void json_add(struct buf *out, const struct json *node);

/* Returns the document, which the caller frees, or NULL if the text is not JSON. */
struct json *json_parse(const char *text, size_t len) _must_check_;
/*
 * Return the value of a member, which the node owns; NULL or `absent` if there is no member of this
 * type.  The node may be NULL, so that calls can be nested.
 */
const struct json *json_get(const struct json *node, const char *key);
bool json_has(const struct json *node, const char *key); /* also if it is null */
const char *json_get_text(const struct json *node, const char *key);
int64_t json_get_number(const struct json *node, const char *key, int64_t absent);
double json_get_real(const struct json *node, const char *key, double absent);
bool json_get_bool(const struct json *node, const char *key, bool absent);
size_t json_length(const struct json *array);
const struct json *json_at(const struct json *array, size_t i);

#endif
