#include "model/vm/props.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/strview.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "wire/glob.h"

#define REPLACEMENT 0xfffd

/* The name or the value of a property while it is decoded. */
struct half {
	bool is_name;
	struct buf bytes;
	uint32_t high; /* a high surrogate whose low surrogate has not been read yet; 0: none */
};

/* If half->high is set, its low surrogate is missing: adds U+FFFD in its place. */
static void flush_surrogate(struct half *half)
{
	if (half->high)
		utf8_add_char(&half->bytes, REPLACEMENT);
	half->high = 0;
}

/* Adds one UTF-16 code unit; joins a low surrogate with half->high. */
static void add_unit(struct half *half, uint32_t unit)
{
	bool is_low = unit >= 0xdc00 && unit <= 0xdfff;

	if (is_low && half->high) {
		utf8_add_char(&half->bytes,
			      0x10000 + ((half->high & 0x3ff) << 10 | (unit & 0x3ff)));
		half->high = 0;
		return;
	}
	flush_surrogate(half);
	if (unit >= 0xd800 && unit <= 0xdbff)
		half->high = unit;
	else if (is_low || (unit == 0 && half->is_name))
		utf8_add_char(&half->bytes, REPLACEMENT);
	else
		utf8_add_char(&half->bytes, unit);
}

static bool is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f';
}

static void skip_blanks(struct strview *t)
{
	while (t->at < t->end && is_blank(*t->at))
		t->at++;
}

static void skip_line_end(struct strview *t)
{
	bool is_return = *t->at++ == '\r';

	if (is_return && t->at < t->end && *t->at == '\n')
		t->at++;
}

static int get_hex(struct strview *t, uint32_t *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++, t->at++) {
		char c;

		if (t->at == t->end)
			return -EBADMSG;
		c = *t->at;
		if (c >= '0' && c <= '9')
			*unit = *unit << 4 | (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			*unit = *unit << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return -EBADMSG;
	}
	return 0;
}

/* Decodes an escape sequence, whose backslash was read already.  Returns 0 or -EBADMSG. */
static int get_escape(struct strview *t, struct half *half)
{
	static const char letters[] = "tnrf", meanings[] = "\t\n\r\f";
	const char *letter;
	uint32_t unit;

	if (t->at == t->end)
		return -EBADMSG;
	if (is_line_end(*t->at)) {
		skip_line_end(t);
		skip_blanks(t);
		return 0;
	}
	if (*t->at == 'u') {
		t->at++;
		if (get_hex(t, &unit) < 0)
			return -EBADMSG;
		add_unit(half, unit);
		return 0;
	}
	letter = memchr(letters, *t->at, sizeof(letters) - 1);
	add_unit(half, (uint8_t)(letter ? meanings[letter - letters] : *t->at));
	t->at++;
	return 0;
}

/*
 * Decodes a name or a value: a name up to the separator, a value up to the end of the line.
 * Returns 0 or -EBADMSG.
 */
static int get_half(struct strview *t, struct half *half)
{
	while (t->at < t->end && !is_line_end(*t->at)) {
		if (*t->at == '\\') {
			t->at++;
			if (get_escape(t, half) < 0)
				return -EBADMSG;
			continue;
		}
		if (half->is_name && (is_blank(*t->at) || *t->at == '=' || *t->at == ':'))
			break;
		add_unit(half, (uint8_t)*t->at++);
	}
	flush_surrogate(half);
	return t->at < t->end ? 0 : -EBADMSG;
}

/* Skips the separator between name and value: spaces, and at most one '=' or ':'. */
static void skip_separator(struct strview *t)
{
	skip_blanks(t);
	if (t->at < t->end && (*t->at == '=' || *t->at == ':')) {
		t->at++;
		skip_blanks(t);
	}
}

static int get_property(struct props *props, struct strview *t)
{
	struct half name = { true, BUF_INIT, 0 }, value = { false, BUF_INIT, 0 };
	int rc = get_half(t, &name);

	if (rc == 0) {
		skip_separator(t);
		rc = get_half(t, &value);
	}
	if (rc == 0) {
		size_t len = value.bytes.len;

		props->items = xgrow(props->items, props->n, &props->cap, sizeof(*props->items));
		props->items[props->n] = (struct prop){ buf_take(&name.bytes),
							buf_take(&value.bytes), len, props->n };
		props->n++;
	}
	buf_release(&name.bytes);
	buf_release(&value.bytes);
	return rc;
}

static int skip_comment(struct strview *t)
{
	while (t->at < t->end && !is_line_end(*t->at))
		t->at++;
	return t->at < t->end ? 0 : -EBADMSG;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct prop *)a)->name, ((const struct prop *)b)->name);
}

/* Leaves properties with one name in the order of the text. */
static int compare(const void *a, const void *b)
{
	const struct prop *x = a, *y = b;
	int order = compare_names(x, y);

	return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static void release(struct prop *prop)
{
	free(prop->name);
	free(prop->value);
}

/* Sorts the properties by name.  Of several properties with one name, only the last remains. */
static void sort(struct props *props)
{
	size_t kept = 0;

	if (props->n == 0)
		return;
	qsort(props->items, props->n, sizeof(*props->items), compare);
	for (size_t i = 0; i < props->n; i++) {
		if (i + 1 < props->n && compare_names(&props->items[i], &props->items[i + 1]) == 0)
			release(&props->items[i]);
		else
			props->items[kept++] = props->items[i];
	}
	props->n = kept;
}

int props_parse(struct props *props, const char *text, size_t len)
{
	struct strview t = { text, text + len };
	int rc = 0;

	while (rc == 0) {
		skip_blanks(&t);
		if (t.at == t.end)
			break;
		if (is_line_end(*t.at))
			skip_line_end(&t);
		else if (*t.at == '#' || *t.at == '!')
			rc = skip_comment(&t);
		else
			rc = get_property(props, &t);
	}
	sort(props);
	return rc;
}

void props_release(struct props *props)
{
	for (size_t i = 0; i < props->n; i++)
		release(&props->items[i]);
	free(props->items);
	*props = (struct props){ 0 };
}

void props_filter(struct props *props, const char *glob)
{
	size_t kept = 0;

	for (size_t i = 0; i < props->n; i++) {
		if (glob_matches(glob, props->items[i].name))
			props->items[kept++] = props->items[i];
		else
			release(&props->items[i]);
	}
	props->n = kept;
}

const struct prop *props_find(const struct props *props, const char *name)
{
	const struct prop key = { .name = (char *)name };

	if (props->n == 0)
		return NULL;
	return bsearch(&key, props->items, props->n, sizeof(*props->items), compare_names);
}
