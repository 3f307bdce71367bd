#include "render/top/screen.h"

#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"

void screen_init(struct screen *s, size_t n_rows, size_t columns)
{
	*s = (struct screen){ .columns = columns, .n_rows = n_rows,
			      .rows = xcalloc(n_rows + 1, sizeof(*s->rows)) };
}

void screen_release(struct screen *s)
{
	for (size_t i = 0; i < s->n_rows; i++)
		buf_release(&s->rows[i].text);
	free(s->rows);
	*s = (struct screen){ .rows = NULL };
}

size_t screen_left(const struct screen *s)
{
	return s->n_rows - s->at;
}

static void set(struct screen *s, size_t row, enum screen_style style, const char *text, size_t len)
{
	struct screen_row *r = &s->rows[row];
	_cleanup_buf_ struct buf safe = BUF_INIT;

	printable_add(&safe, text, len);
	buf_reset(&r->text);
	buf_add(&r->text, buf_str(&safe), printable_fit(buf_str(&safe), safe.len, s->columns));
	r->style = style;
}

void screen_add(struct screen *s, enum screen_style style, const char *text, size_t len)
{
	if (s->at < s->n_rows)
		set(s, s->at++, style, text, len);
}

void screen_set_last(struct screen *s, enum screen_style style, const char *text, size_t len)
{
	if (s->n_rows > 0)
		set(s, s->n_rows - 1, style, text, len);
}

static bool is_same(const struct screen_row *a, const struct screen_row *b)
{
	return a->style == b->style && a->text.len == b->text.len &&
	       memcmp(buf_str(&a->text), buf_str(&b->text), a->text.len) == 0;
}

/* Draws a row.  A row with SCREEN_REVERSE is in reverse video up to the screen's right edge. */
static void draw_row(const struct screen *s, size_t row, struct buf *out)
{
	static const char *const styles[] = {
		[SCREEN_PLAIN] = "\033[0m", [SCREEN_BOLD] = "\033[0;1m",
		[SCREEN_REVERSE] = "\033[0;7m",
	};
	const struct screen_row *r = &s->rows[row];
	size_t width = printable_width(buf_str(&r->text), r->text.len);

	/*
	 * Erase the row before drawing it.  After a full row is drawn, the cursor is in the last
	 * column, and erasing would remove that column.
	 */
	buf_addf(out, "\033[%zu;1H\033[0m\033[K%s", row + 1, styles[r->style]);
	buf_add(out, buf_str(&r->text), r->text.len);
	for (; r->style == SCREEN_REVERSE && width < s->columns; width++)
		buf_addc(out, ' ');
}

void screen_draw(const struct screen *before, const struct screen *now, struct buf *out)
{
	bool all = !before || before->n_rows != now->n_rows || before->columns != now->columns;
	size_t start = out->len;

	if (all)
		buf_adds(out, "\033[0m\033[2J");
	for (size_t i = 0; i < now->n_rows; i++) {
		if (all || !is_same(&before->rows[i], &now->rows[i]))
			draw_row(now, i, out);
	}
	if (out->len > start)
		buf_adds(out, "\033[0m");
}
