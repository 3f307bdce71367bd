/*
 * Builds JSON documents (RFC 8259) as trees and prints them, and parses documents.  Only this
 * module uses json-c.
 *
 * Invalid UTF-8 in texts is replaced by U+FFFD.  Characters that could control a terminal are
 * printed as \uNNNN, to terminals, files and pipes alike.  The caller must not add a key twice;
 * this is not checked.  If memory is exhausted, the process ends.
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
/* Adds `value` if `known` is true, otherwise null. */
void json_put_known(struct json *parent, const char *key, bool known, uint64_t value);
/* Adds `child` to an object, or to an array if key is NULL; the parent then owns `child`. */
void json_put(struct json *parent, const char *key, struct json *child);

/* The first member of each document that is an object.  1 is the version of the set of keys. */
#define JSON_SCHEMA "\"schema\":1"

/*
 * Prints a document and a newline.  If the document is an object, prints JSON_SCHEMA as its first
 * member.  Does not escape slashes.
 */
void json_print(const struct json *node, FILE *out);
void json_print_take(struct json *node, FILE *out); /* prints as json_print(), and frees the node */
/*
 * Prints an object and, as its last member, a long text.  The text is converted in pieces, so the
 * memory does not grow with its length.  The key must be a constant without special characters.
 */
void json_print_with_text(const struct json *node, const char *key, const char *text, size_t len,
			  FILE *out);
/*
 * Prints an object and, as its last member, an array of n elements; make(arg, i) returns element i.
 * Each element is printed before the next one is created, so the memory does not grow with n.  The
 * key must be a constant without special characters.
 */
typedef struct json *json_make_fn(const void *arg, size_t i);
void json_print_with_array(const struct json *node, const char *key, json_make_fn *make,
			   const void *arg, size_t n, FILE *out);
/* Appends the document that json_print() would print, without the newline. */
void json_add_document(struct buf *out, const struct json *node);
/* Appends the JSON text of a node, as a part of a larger document. */
void json_add(struct buf *out, const struct json *node);

/* Returns the parsed document, which the caller frees; or NULL if the text is not JSON. */
struct json *json_parse(const char *text, size_t len) _must_check_;
/*
 * Return the value of a member; the node owns the value.  If the node has no member with this key
 * and type, return NULL or `absent`.  The node may be NULL, so that calls can be nested.
 */
const struct json *json_get(const struct json *node, const char *key);
bool json_has(const struct json *node, const char *key); /* true even if the value is null */
const char *json_get_text(const struct json *node, const char *key);
int64_t json_get_number(const struct json *node, const char *key, int64_t absent);
double json_get_real(const struct json *node, const char *key, double absent);
bool json_get_bool(const struct json *node, const char *key, bool absent);
size_t json_length(const struct json *array);
const struct json *json_at(const struct json *array, size_t i);

#endif
