/*
 * What there is to tell about one thing: values under names, as lines for people and as one JSON
 * object, both from the same fields.  Knows no JVM.
 */
#ifndef JTOOL_RENDER_SHEET_H
#define JTOOL_RENDER_SHEET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "render/json.h"

enum field_type {
	FIELD_TEXT,    /* hostile until printed: control characters are escaped on the way out */
	FIELD_NUMBER,
	FIELD_BOOL,    /* "yes" or "no" in the text */
	FIELD_REAL,    /* two decimals in the text */
	FIELD_BYTES,   /* as 812, 1.5K, 64M; the plain number in JSON */
	FIELD_SECONDS, /* as 7s, 5m06s, 3h04m, 1d02h; the plain number in JSON */
	FIELD_ITEMS,   /* things of the same kind: a line each; an array of objects in JSON */
};

struct field {
	/*
	 * What stands before the line; fields of the same label, one behind the other, share it,
	 * with a comma between them.  "" is an empty line before what follows, when something
	 * does.  NULL: not in the text.
	 */
	const char *label;
	const char *words; /* '%' stands for the value; NULL: the value alone */
	const char *key;   /* in JSON; NULL: not there */
	enum field_type type;
};

struct sheet;

/* Fields are kept by reference.  Those that are never set are left out, and null in JSON. */
struct sheet *sheet_new(const struct field *fields, size_t n);
void sheet_free(struct sheet *s); /* NULL is allowed */

void sheet_text(struct sheet *s, size_t field, const char *text); /* copied; NULL: not set */
void sheet_number(struct sheet *s, size_t field, int64_t value);
void sheet_bool(struct sheet *s, size_t field, bool value);
void sheet_real(struct sheet *s, size_t field, double value);

/* The items of this field are known, even if there should be none: [] in JSON, not null. */
void sheet_items(struct sheet *s, size_t field);
/* One more of them, with fields of its own, whose labels do not count.  The sheet's. */
struct sheet *sheet_item(struct sheet *s, size_t field, const struct field *fields, size_t n);

void sheet_print(const struct sheet *s, FILE *out);
struct json *sheet_json(const struct sheet *s); /* the caller's */

#endif
