#include "render/vm/vmflags_table.h"

#include <errno.h>
#include <string.h>

#include "render/table.h"

enum { NAME, TYPE, VALUE, KIND, ORIGIN, MANAGEABLE, SHOWN };

/* The value is in the last column, so that a long value does not make all lines longer. */
static const struct column columns[] = {
	[NAME] = { "NAME", "name", CELL_TEXT, false },
	[TYPE] = { "TYPE", "type", CELL_TEXT, false },
	[VALUE] = { NULL, "value", CELL_TEXT, true },
	[KIND] = { "KIND", "kind", CELL_TEXT, false },
	[ORIGIN] = { "ORIGIN", "origin", CELL_TEXT, false },
	[MANAGEABLE] = { NULL, "manageable", CELL_BOOL, true },
	[SHOWN] = { "VALUE", NULL, CELL_TEXT, false },
};

/*
 * Returns a cell with the number in `digits`, which may be signed or unsigned.  If `digits` is not
 * a number, the cell has the text `digits`.
 */
static struct cell integer_of(const char *digits)
{
	struct cell cell = { .has = CELL_HAS_INTEGER };
	char *rest;

	errno = 0;
	cell.integer = strtoll(digits, &rest, 10);
	if (errno == ERANGE && *digits != '-') {
		errno = 0;
		cell.has = CELL_HAS_UNSIGNED;
		cell.number = strtoull(digits, &rest, 10);
	}
	if (errno == 0 && rest > digits && *rest == '\0')
		return cell;
	return (struct cell){ CELL_HAS_TEXT, .text = digits };
}

static struct cell value_of(const struct vmflag *flag)
{
	switch (vmflag_form(flag)) {
	case VMFLAG_BOOL:
		return (struct cell){ CELL_HAS_BOOL, .yes = strcmp(flag->value, "true") == 0 };
	case VMFLAG_SIGNED:
	case VMFLAG_UNSIGNED:
		return integer_of(flag->value);
	case VMFLAG_DOUBLE:
		return (struct cell){ CELL_HAS_REAL, .real = strtod(flag->value, NULL) };
	case VMFLAG_TEXT:
		break;
	}
	return (struct cell){ CELL_HAS_TEXT, .text = flag->value };
}

/* Returns a table of the n flags.  The caller frees the table. */
static struct table *flags_table(const struct vmflag *flags, size_t n)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < n; i++) {
		const struct vmflag *flag = &flags[i];

		table_row(t);
		table_text(t, NAME, flag->name);
		table_text(t, TYPE, flag->type);
		table_set(t, VALUE, value_of(flag));
		table_text(t, KIND, flag->kind);
		table_text(t, ORIGIN, flag->origin);
		table_set(t, MANAGEABLE,
			  (struct cell){ CELL_HAS_BOOL, .yes = vmflag_is_manageable(flag) });
		table_text(t, SHOWN, flag->value);
	}
	return t;
}

void vmflags_output(const struct vmflags *flags, int64_t pid, bool json, FILE *out)
{
	struct table *t = flags_table(flags->items, flags->n);

	table_output(t, "flags", pid, json, out);
	table_free(t);
}

struct json *vmflag_json(const struct vmflag *flag, const struct vmflag *old, int64_t pid)
{
	struct table *t = flags_table(flag, 1);
	struct json *doc = json_object();
	struct cell before;

	json_put_number(doc, "pid", pid);
	table_put(t, 0, doc);
	if (old) {
		before = value_of(old);
		cell_put(&before, doc, "old");
	}
	table_free(t);
	return doc;
}
