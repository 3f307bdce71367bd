#include "render/alloc_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/units.h"

#define NS_PER_S 1e9
#define BYTES_WIDTH 6 /* of what units_bytes() writes */
#define INDENT "      at "

static int64_t clamp(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void add_bytes(struct buf *out, uint64_t bytes)
{
	units_bytes(out, clamp(bytes));
}

static void add_objects(struct buf *out, uint64_t bytes, uint64_t objects)
{
	add_bytes(out, bytes);
	buf_adds(out, " in ");
	units_count(out, objects);
	buf_adds(out, objects == 1 ? " object" : " objects");
}

static void add_live(struct buf *out, const struct alloc_view *view)
{
	buf_adds(out, "; alive at the end: ");
	add_objects(out, view->total.live_bytes, view->total.live_objects);
	if (view->age > 0)
		buf_addf(out, ", of those that %" PRIu32 " collection%s or more have left",
			 view->age, view->age == 1 ? "" : "s");
}

void alloc_text_summary(struct buf *out, const struct alloc_view *view)
{
	const struct alloc_state *state = &view->alloc->state;
	bool exact = alloc_view_is_exact(view);

	buf_addf(out, "%.1f s: %s", (double)state->ns / NS_PER_S, exact ? "" : "about ");
	add_objects(out, view->total.bytes, view->total.objects);
	if (exact) {
		buf_adds(out, ", each counted");
	} else {
		buf_adds(out, ", by ");
		units_count(out, state->samples);
		buf_adds(out, state->samples == 1 ? " sample, one in " : " samples, one in ");
		add_bytes(out, state->interval);
	}
	if (alloc_view_is_live(view))
		add_live(out, view);
}

struct widths {
	int objects, live_objects; /* of the counts */
};

static int count_width(uint64_t n)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	units_count(&text, n);
	return (int)text.len;
}

static struct widths measure(const struct alloc_view *view)
{
	struct widths widths = { 5, 10 }; /* of the headings */

	for (size_t i = 0; i < view->n; i++) {
		const struct alloc_site *site = &view->alloc->sites[view->sites[i]];
		int objects = count_width(site->objects);
		int live_objects = count_width(site->live_objects);

		if (objects > widths.objects)
			widths.objects = objects;
		if (live_objects > widths.live_objects)
			widths.live_objects = live_objects;
	}
	return widths;
}

/* Behind the column that they are shares of. */
static void add_percent(struct buf *out, const struct alloc_view *view, enum alloc_order column)
{
	if (view->order == column)
		buf_addf(out, "%5s  ", "%");
}

static void add_heading(struct buf *out, const struct alloc_view *view, struct widths widths)
{
	if (alloc_view_is_live(view)) {
		buf_addf(out, "%*s  ", BYTES_WIDTH, "LIVE");
		add_percent(out, view, ALLOC_BY_LIVE_BYTES);
		buf_addf(out, "%*s  ", widths.live_objects, "LIVE COUNT");
		add_percent(out, view, ALLOC_BY_LIVE_COUNT);
	}
	buf_addf(out, "%*s  ", BYTES_WIDTH, "BYTES");
	add_percent(out, view, ALLOC_BY_BYTES);
	buf_addf(out, "%*s  ", widths.objects, "COUNT");
	add_percent(out, view, ALLOC_BY_COUNT);
	buf_adds(out, "CLASS\n");
}

static void add_cell(struct buf *out, int width, bool is_bytes, uint64_t n)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (is_bytes)
		add_bytes(&text, n);
	else
		units_count(&text, n);
	buf_addf(out, "%*s  ", width, buf_str(&text));
}

/* Of what the sites are in order of. */
static double share(const struct alloc_view *view, const struct alloc_site *site)
{
	uint64_t part = site->bytes, whole = view->total.bytes;

	if (view->order == ALLOC_BY_COUNT) {
		part = site->objects;
		whole = view->total.objects;
	} else if (view->order == ALLOC_BY_LIVE_BYTES) {
		part = site->live_bytes;
		whole = view->total.live_bytes;
	} else if (view->order == ALLOC_BY_LIVE_COUNT) {
		part = site->live_objects;
		whole = view->total.live_objects;
	}
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void add_text(struct buf *out, const char *text)
{
	text_printable(out, text, strlen(text));
	buf_addc(out, '\n');
}

static void add_stack(struct buf *out, const struct alloc_view *view,
		      const struct alloc_site *site)
{
	uint32_t n = site->n_frames;

	/* One line more is no longer than the line that says so. */
	if (view->frames > 0 && n > view->frames + 1)
		n = view->frames;
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(out, INDENT);
		add_text(out, view->alloc->frames.texts[site->frames[i]]);
	}
	if (n < site->n_frames)
		buf_addf(out, "      ... %" PRIu32 " more\n", site->n_frames - n);
	if (site->n_frames == 0)
		buf_adds(out, "      (no Java code)\n");
}

static void add_share(struct buf *out, const struct alloc_view *view,
		      const struct alloc_site *site, enum alloc_order column)
{
	if (view->order == column)
		buf_addf(out, "%5.1f  ", share(view, site));
}

static void add_site(struct buf *out, const struct alloc_view *view, struct widths widths,
		     const struct alloc_site *site)
{
	if (alloc_view_is_live(view)) {
		add_cell(out, BYTES_WIDTH, true, site->live_bytes);
		add_share(out, view, site, ALLOC_BY_LIVE_BYTES);
		add_cell(out, widths.live_objects, false, site->live_objects);
		add_share(out, view, site, ALLOC_BY_LIVE_COUNT);
	}
	add_cell(out, BYTES_WIDTH, true, site->bytes);
	add_share(out, view, site, ALLOC_BY_BYTES);
	add_cell(out, widths.objects, false, site->objects);
	add_share(out, view, site, ALLOC_BY_COUNT);
	add_text(out, view->alloc->kinds[site->kind]);
	add_stack(out, view, site);
}

void alloc_text_add(struct buf *out, const struct alloc_view *view)
{
	struct widths widths = measure(view);

	alloc_text_summary(out, view);
	buf_addc(out, '\n');
	if (view->n > 0) {
		buf_addc(out, '\n');
		add_heading(out, view, widths);
	}
	for (size_t i = 0; i < view->n; i++)
		add_site(out, view, widths, &view->alloc->sites[view->sites[i]]);
	if (view->n_hidden == 0)
		return;
	buf_addc(out, '\n');
	units_count(out, view->n_hidden);
	buf_addf(out, " more site%s: -n 0 shows all\n", view->n_hidden == 1 ? "" : "s");
}

static void add_counted(struct buf *out, uint64_t n, const char *one, const char *more)
{
	units_count(out, n);
	buf_addf(out, " %s", n == 1 ? one : more);
}

static void add_old_code(struct buf *out, const struct alloc_note *note)
{
	bool one = note->n == 1;

	add_counted(out, note->n, "thread", "threads");
	buf_addf(out, " had begun %s before: arrays that %s there are not counted until %s",
		 note->text, one ? "it makes" : "they make", one ? "it returns" : "they return");
}

static void add_refused(struct buf *out, const struct alloc_note *note)
{
	add_counted(out, note->n, "class stayed as it was", "classes stayed as they were");
	buf_addf(out, ", and arrays made there were not counted: %s", note->text);
}

void alloc_text_note(struct buf *out, const struct alloc_note *note)
{
	switch (note->note) {
	case WIRE_ALLOC_OLD_CODE:
		add_old_code(out, note);
		break;
	case WIRE_ALLOC_REFUSED:
		add_refused(out, note);
		break;
	case WIRE_ALLOC_FULL:
		units_count(out, note->n);
		buf_addf(out, "%s%s found no room: --memory gives more", *note->text ? " " : "",
			 note->text);
		break;
	case WIRE_ALLOC_NOT_LIVE:
		buf_addf(out, "what is alive is not known: %s", note->text);
		break;
	default: /* of a later agent */
		buf_adds(out, note->text);
		if (note->n > 0) {
			buf_adds(out, ": ");
			units_count(out, note->n);
		}
		break;
	}
}
