/*
 * Reads JSON (RFC 8259) front to back, without a tree: for documents of any size from a target.
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

#include "base/buf.h"
#include "base/strview.h"

struct json_scan {
	struct strview rest;
	bool bad;
};

/* Enter an object or an array.  False, and the value is skipped, if the next value is another. */
bool json_scan_object(struct json_scan *s);
bool json_scan_array(struct json_scan *s);

/*
 * Consumes the next key of the object that was entered last, as it is written.  False at the end of
 * the object, which is consumed.  Take or skip the value before the next call.
 */
bool json_scan_key(struct json_scan *s, struct strview *key);
/* Returns true if another value of the array follows. */
bool json_scan_item(struct json_scan *s);

/*
 * Appends a string, in UTF-8.  False, and the value is skipped, if the next value is another.
 * Surrogates that have no partner become U+FFFD.
 */
bool json_scan_text(struct json_scan *s, struct buf *text);
/* Returns a number from 0 to INT64_MAX, also one in quotes; -1, and the value is skipped. */
int64_t json_scan_number(struct json_scan *s);
/* Returns true for the value true. */
bool json_scan_true(struct json_scan *s);
/* Skips a value. */
void json_scan_skip(struct json_scan *s);

#endif
