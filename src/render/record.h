/* Named values of one thing, printed as lines of text or as one JSON object. */
#ifndef JTOOL_RENDER_RECORD_H
#define JTOOL_RENDER_RECORD_H

#include <stdio.h>

#include "render/cell.h"

struct field {
	/*
	 * The start of the line.  Consecutive fields with the same label share one line, separated
	 * by commas.  "" prints an empty line before the next line, if any.  NULL: JSON only.
	 */
	const char *label;
	const char *words; /* '%' is replaced by the value; NULL: only the value */
	const char *key;   /* in JSON; NULL: text only */
	enum cell_type type;
};

struct record;

/* `fields` must outlive the record.  Fields that are not set are null in JSON and not printed. */
struct record *record_new(const struct field *fields, size_t n);
void record_free(struct record *s); /* NULL is allowed */

void record_text(struct record *s, size_t field, const char *text); /* copied; NULL: not set */
void record_number(struct record *s, size_t field, int64_t value);
void record_bool(struct record *s, size_t field, bool value);
void record_real(struct record *s, size_t field, double value);

/* Makes the field a list, which may stay empty: [] in JSON, not null. */
void record_items(struct record *s, size_t field);
/* Appends an item to a list; the record owns the item.  Field labels of items are not printed. */
struct record *record_item(struct record *s, size_t field, const struct field *fields, size_t n);

void record_print(const struct record *s, FILE *out);
struct json *record_json(const struct record *s); /* the caller frees it */

#endif
