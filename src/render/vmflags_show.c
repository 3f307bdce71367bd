#include "render/vmflags_show.h"

#include <errno.h>
#include <string.h>

#include "render/table.h"

void vmflags_print(const struct vmflags *flags, FILE *out)
{
	/* The value comes last: a long one makes no other line longer. */
	static const struct column columns[] = {
		{ "NAME", "name", COL_TEXT, false, NULL },
		{ "TYPE", "type", COL_TEXT, false, NULL },
		{ "KIND", "kind", COL_TEXT, false, NULL },
		{ "ORIGIN", "origin", COL_TEXT, false, NULL },
		{ "VALUE", "value", COL_TEXT, false, NULL },
	};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < flags->n; i++) {
		const struct vmflag *flag = &flags->items[i];

		table_row(t);
		table_text(t, 0, flag->name);
		table_text(t, 1, flag->type);
		table_text(t, 2, flag->kind);
		table_text(t, 3, flag->origin);
		table_text(t, 4, flag->value);
	}
	table_print(t, out);
	table_free(t);
}

/* Digits as the JVM wrote them, as a number of the width that it needs. */
static void put_integer(struct json *json, const char *key, const char *digits)
{
	char *rest;
	int64_t n;
	uint64_t u;

	errno = 0;
	n = strtoll(digits, &rest, 10);
	if (errno == 0 && rest > digits && *rest == '\0') {
		json_put_number(json, key, n);
		return;
	}
	errno = 0;
	u = strtoull(digits, &rest, 10);
	if (errno == 0 && rest > digits && *rest == '\0')
		json_put_unsigned(json, key, u);
	else
		json_put_text(json, key, digits);
}

static void put_value(struct json *json, const char *key, const struct vmflag *flag)
{
	switch (vmflag_form(flag)) {
	case VMFLAG_BOOL:
		json_put_bool(json, key, strcmp(flag->value, "true") == 0);
		break;
	case VMFLAG_SIGNED:
	case VMFLAG_UNSIGNED:
		put_integer(json, key, flag->value);
		break;
	case VMFLAG_DOUBLE:
		json_put_real(json, key, strtod(flag->value, NULL));
		break;
	case VMFLAG_TEXT:
		json_put_text(json, key, flag->value);
		break;
	}
}

static void put_flag(struct json *json, const struct vmflag *flag)
{
	json_put_text(json, "name", flag->name);
	json_put_text(json, "type", flag->type);
	put_value(json, "value", flag);
	json_put_text(json, "kind", flag->kind);
	json_put_text(json, "origin", flag->origin);
	json_put_bool(json, "manageable", vmflag_is_manageable(flag));
}

struct json *vmflags_json(const struct vmflags *flags, int64_t pid)
{
	struct json *doc = json_object(), *list = json_array();

	for (size_t i = 0; i < flags->n; i++) {
		struct json *one = json_object();

		put_flag(one, &flags->items[i]);
		json_put(list, NULL, one);
	}
	json_put_number(doc, "pid", pid);
	json_put(doc, "flags", list);
	return doc;
}

struct json *vmflag_json(const struct vmflag *flag, const struct vmflag *old, int64_t pid)
{
	struct json *doc = json_object();

	json_put_number(doc, "pid", pid);
	put_flag(doc, flag);
	if (old)
		put_value(doc, "old", old);
	return doc;
}
