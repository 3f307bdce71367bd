/*
 * Reads a JSON document (RFC 8259) from front to back.  Builds no tree, because a target may send a
 * document of any size.
 *
 *     if (json_scan_object(&s)) {
 *         while (json_scan_key(&s, &key)) {
 *             ... one of the functions that take a value, or json_scan_skip(&s)
 *         }
 *     }
 *
 * Malformed input sets `bad`; from then on there is nothing more to read, so loops end.
 */
#ifndef JTOOL_MODEL_THREADS_JSON_SCAN_H
#define JTOOL_MODEL_THREADS_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/strview.h"

struct json_scan {
	struct strview rest;
	bool bad;
};

/*
 * Enter an object or an array.  If the next value is of another kind, it is skipped and the
 * functions return false.
 */
bool json_scan_object(struct json_scan *s);
bool json_scan_array(struct json_scan *s);

/*
 * Consumes the next key of the object that was entered last, and sets *key to the key's characters,
 * with escapes not decoded.  At the end of the object, consumes '}' and returns false.  The caller
 * must consume or skip the value before the next call.
 */
bool json_scan_key(struct json_scan *s, struct strview *key);
/*
 * Returns true if the array that was entered last has another value.  At the end of the array,
 * consumes ']' and returns false.
 */
bool json_scan_item(struct json_scan *s);

/*
 * Appends the string that is the next value, in UTF-8.  If the next value is not a string, skips it
 * and returns false.  A surrogate without a partner becomes U+FFFD.
 */
bool json_scan_text(struct json_scan *s, struct buf *text);
/*
 * Consumes the next value.  Returns it if it is a number from 0 to INT64_MAX, which may be in
 * quotes; otherwise -1.
 */
int64_t json_scan_number(struct json_scan *s);
/* Consumes the next value.  Returns whether it is `true`. */
bool json_scan_true(struct json_scan *s);
/* Consumes the next value. */
void json_scan_skip(struct json_scan *s);

#endif
