#include "render/top/top_screen.h"

#include <string.h>

#include "base/strview.h"
#include "render/limit.h"

#define HEAD_SHARE 3 /* the head takes at most 1/HEAD_SHARE of the screen's lines */

const char top_screen_help[] =
	"Up, Down, Page Up, Page Down, Home, End   select a row\n"
	"Enter      threads: the stack of the selected one; JVMs: the threads of the selected one\n"
	"j          the JVMs\n"
	"t          the threads of the last JVM\n"
	"s          sort by the next column: cpu, time, name, id; JVMs also rss, heap, gc, alloc\n"
	"r          reverse the order\n"
	"Space, p   pause, and continue\n"
	"?, h       this help\n"
	"q, Ctrl-C  quit\n"
	"\n"
	"CPU%       in the last interval; 100 is one CPU\n"
	"GC         share of the time in collections, as the JVM counts it\n"
	"safepoints share of the time in which the application was stopped\n"
	"throttled  share of the time in which the control group was not permitted to run\n"
	"after      heap in use after the last collection\n"
	"allocation bytes a second, from the counters of eden\n"
	"STATE      in the kernel; a thread dump has the state in Java: see the stack\n";

static void add_lines(struct screen *s, enum screen_style style, const char *text, size_t most)
{
	struct strview rest = { text, text + strlen(text) }, line;

	for (size_t i = 0; i < most && strview_line(&rest, &line); i++)
		screen_add(s, style, line.at, strview_len(line));
}

/* Corrects `selected` and `first`: the selected row must be one of n rows, and on the screen. */
static void correct(struct top_place *place, size_t n, size_t page)
{
	place->page = page;
	if (n == 0 || page == 0) {
		place->selected = place->first = 0;
		return;
	}
	if (place->selected >= n)
		place->selected = n - 1;
	if (place->first > place->selected)
		place->first = place->selected;
	if (place->selected - place->first >= page)
		place->first = place->selected - page + 1;
	if (n > page && place->first > n - page)
		place->first = n - page;
	if (n <= page)
		place->first = 0;
}

static void set_status(struct screen *s, const char *status)
{
	screen_set_last(s, SCREEN_PLAIN, status, strlen(status));
}

static size_t without_status(const struct screen *s)
{
	return screen_left(s) > 0 ? screen_left(s) - 1 : 0;
}

void top_screen_table(struct screen *s, const struct top_view *v, struct top_place *place,
		      const char *status)
{
	/* Without -n there is no limit, because the user can scroll to all rows. */
	size_t n = limit_rows(v->limit, true, LIMIT_ROWS, v->n);
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t page;

	top_view_head(v, s->columns, &text);
	add_lines(s, SCREEN_PLAIN, buf_str(&text), s->n_rows / HEAD_SHARE);
	buf_reset(&text);
	top_view_heading(v, s->columns, &text);
	screen_add(s, SCREEN_REVERSE, buf_str(&text), text.len);
	page = without_status(s);
	correct(place, n, page);
	for (size_t i = place->first; i < n && i - place->first < page; i++) {
		buf_reset(&text);
		top_view_row(v, i, s->columns, &text);
		screen_add(s, i == place->selected ? SCREEN_REVERSE : SCREEN_PLAIN, buf_str(&text),
			   text.len);
	}
	set_status(s, status);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

void top_screen_text(struct screen *s, const char *title, const char *text,
		     struct top_place *place, const char *status)
{
	struct strview rest = { text, text + strlen(text) }, line;
	size_t n = count_lines(text), page;

	screen_add(s, SCREEN_REVERSE, title, strlen(title));
	page = without_status(s);
	place->page = page;
	if (n <= page)
		place->scroll = 0;
	else if (place->scroll > n - page)
		place->scroll = n - page;
	for (size_t i = 0; strview_line(&rest, &line); i++) {
		if (i >= place->scroll && i - place->scroll < page)
			screen_add(s, SCREEN_PLAIN, line.at, strview_len(line));
	}
	set_status(s, status);
}
