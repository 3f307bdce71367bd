/* A record: named values that are printed as lines of text or as one JSON object. */
#ifndef JTOOL_RENDER_RECORD_H
#define JTOOL_RENDER_RECORD_H

#include <stdio.h>

#include "render/cell.h"

struct field {
	/*
	 * The text at the start of the field's line.  Consecutive fields with the same label share
	 * a line, in which commas separate their values.  NULL: the field is only in JSON.  "": an
	 * empty line is printed instead of the field, but not as the first or the last line.
	 */
	const char *label;
	const char *words; /* text in which '%' is replaced by the value; NULL: the value alone */
	const char *key;   /* key in JSON; NULL: the field is only in text */
	enum cell_type type;
};

struct record;

/*
 * Returns a record without values.  `fields` must outlive the record.  A field that is never set is
 * null in JSON, and is not printed as text.
 */
struct record *record_new(const struct field *fields, size_t n);
void record_free(struct record *s); /* NULL is allowed */

/* Sets a field to a copy of the text; NULL leaves the field unset. */
void record_text(struct record *s, size_t field, const char *text);
void record_number(struct record *s, size_t field, int64_t value);
void record_bool(struct record *s, size_t field, bool value);
void record_real(struct record *s, size_t field, double value);

/* Makes the field a list without items: [] in JSON and not null. */
void record_items(struct record *s, size_t field);
/*
 * Appends an item to the field's list, and returns the item, which the record owns.  Labels of an
 * item's fields are not printed.
 */
struct record *record_item(struct record *s, size_t field, const struct field *fields, size_t n);

void record_print(const struct record *s, FILE *out);
/* Returns the JSON object, which the caller frees. */
struct json *record_json(const struct record *s);

#endif
