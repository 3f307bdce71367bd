#include "render/cell.h"

#include <string.h>

#include "base/printable.h"
#include "render/units.h"

/*
 * Returns the value as int64_t, rounded towards 0.  An integer that is too large becomes INT64_MAX,
 * a real that is too large becomes 0.
 */
static int64_t integer_of(const struct cell *cell)
{
	if (cell->has == CELL_HAS_INTEGER)
		return cell->integer;
	if (cell->has == CELL_HAS_UNSIGNED)
		return cell->number < INT64_MAX ? (int64_t)cell->number : INT64_MAX;
	return cell->real > -9e18 && cell->real < 9e18 ? (int64_t)cell->real : 0;
}

/*
 * Appends n.  A histogram has tens of thousands of numbers, and printf() would take four times as
 * long.
 */
static void show_integer(uint64_t n, bool is_negative, struct buf *out)
{
	char text[24], *at = text + sizeof(text);

	do
		*--at = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	if (is_negative)
		*--at = '-';
	buf_add(out, at, (size_t)(text + sizeof(text) - at));
}

static void show_plain(const struct cell *cell, struct buf *out)
{
	bool is_negative = cell->has == CELL_HAS_INTEGER && cell->integer < 0;

	if (cell->has == CELL_HAS_REAL)
		buf_addf(out, "%.2f", cell->real);
	else
		show_integer(is_negative ? -cell->number : cell->number, is_negative, out);
}

static void show_number(const struct cell *cell, enum cell_type type, struct buf *out)
{
	int64_t n = integer_of(cell);

	if (type == CELL_COUNT)
		units_count(out, cell->number);
	else if (type == CELL_PERCENT)
		buf_addf(out, "%.1f", cell->real);
	else if (type == CELL_BYTES)
		units_bytes(out, n);
	else if (type == CELL_SECONDS)
		units_seconds(out, n);
	else if (type == CELL_NANOS)
		units_nanos(out, n > 0 ? (uint64_t)n : 0);
	else
		show_plain(cell, out);
}

void cell_show(const struct cell *cell, enum cell_type type, struct buf *out)
{
	if (cell->has == CELL_ABSENT)
		buf_addc(out, '-');
	else if (cell->has == CELL_HAS_TEXT)
		printable_add(out, cell->text, strlen(cell->text));
	else if (cell->has == CELL_HAS_BOOL)
		buf_adds(out, cell->yes ? "yes" : "no");
	else
		show_number(cell, type, out);
}

void cell_put(const struct cell *cell, struct json *parent, const char *key)
{
	switch (cell->has) {
	case CELL_ABSENT:
		json_put_null(parent, key);
		break;
	case CELL_HAS_TEXT:
		json_put_text(parent, key, cell->text);
		break;
	case CELL_HAS_INTEGER:
		json_put_number(parent, key, cell->integer);
		break;
	case CELL_HAS_UNSIGNED:
		json_put_unsigned(parent, key, cell->number);
		break;
	case CELL_HAS_REAL:
		json_put_real(parent, key, cell->real);
		break;
	case CELL_HAS_BOOL:
		json_put_bool(parent, key, cell->yes);
		break;
	}
}
