#include "render/vm/jstat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

static void add_spaces(struct buf *out, int n)
{
	if (n > 0)
		buf_addf(out, "%*s", n, "");
}

void jstat_heading(struct buf *out, enum jstat_table table)
{
	const struct jstat_column *first = jstat_columns(table);

	for (const struct jstat_column *c = first; c->heading; c++) {
		int room = c->width - (int)strlen(c->heading);

		if (c != first)
			buf_addc(out, ' ');
		add_spaces(out, c->left ? 0 : room / 2);
		buf_adds(out, c->heading);
		add_spaces(out, c->left ? room : room - room / 2);
	}
	buf_addc(out, '\n');
}

static void add_text(struct buf *out, int width, const char *text)
{
	size_t start = out->len;

	printable_add(out, text, strlen(text));
	add_spaces(out, width - (int)printable_width(out->data + start, out->len - start));
}

static void add_value(struct buf *out, const struct jstat_column *c, double number,
		      const char *text)
{
	if (c->kind == JSTAT_TEXT)
		add_text(out, c->width, text ? text : "-");
	else if (isnan(number))
		buf_addf(out, "%*s", c->width, "-");
	else
		buf_addf(out, "%*.*f", c->width, c->decimals, number);
}

void jstat_row(struct buf *out, enum jstat_table table, const struct counter_source *r)
{
	const struct jstat_column *first = jstat_columns(table);

	for (const struct jstat_column *c = first; c->heading; c++) {
		if (c != first)
			buf_addc(out, ' ');
		add_value(out, c, jstat_number(c, r),
			  c->kind == JSTAT_TEXT ? jstat_text(c, r) : NULL);
	}
	buf_addc(out, '\n');
}

bool jstat_row_of_json(struct buf *out, enum jstat_table table, const struct json *sample)
{
	const struct jstat_column *first = jstat_columns(table);

	for (const struct jstat_column *c = first; c->heading; c++) {
		if (!json_has(sample, jstat_key(c)))
			return false;
		if (c != first)
			buf_addc(out, ' ');
		add_value(out, c, json_get_real(sample, jstat_key(c), (double)NAN),
			  json_get_text(sample, jstat_key(c)));
	}
	buf_addc(out, '\n');
	return true;
}

/*
 * Adds a number to a JSON object.  Rounds the number to `decimals` decimals, so that it is the same
 * in JSON as in the table.
 */
static void put_rounded(struct json *parent, const char *key, double number, int decimals)
{
	char text[400]; /* large enough: the largest double has 309 digits */

	(void)snprintf(text, sizeof(text), "%.*f", decimals, number);
	json_put_real(parent, key, strtod(text, NULL));
}

struct json *jstat_json(enum jstat_table table, const struct counter_source *r, double timestamp)
{
	struct json *sample = json_object();

	put_rounded(sample, "Timestamp", timestamp, 3);
	for (const struct jstat_column *c = jstat_columns(table); c->heading; c++) {
		if (c->kind == JSTAT_TEXT)
			json_put_text(sample, jstat_key(c), jstat_text(c, r));
		else
			put_rounded(sample, jstat_key(c), jstat_number(c, r), c->decimals);
	}
	return sample;
}
