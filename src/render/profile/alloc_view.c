#include "render/profile/alloc_view.h"

#include <inttypes.h>

#include "render/limit.h"
#include "render/table.h"
#include "render/units.h"

#define NS_PER_S 1e9
#define NS_PER_MS 1000000
#define MS_PER_S 1e3

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
	buf_adds(out, "; live at the end: ");
	add_objects(out, view->total.live_bytes, view->total.live_objects);
	if (view->age > 0)
		buf_addf(out, ", counting what survived at least %" PRIu32 " collection%s",
			 view->age, view->age == 1 ? "" : "s");
}

void alloc_text_summary(struct buf *out, const struct alloc_view *view)
{
	const struct alloc_state *state = &view->alloc->state;
	bool exact = alloc_view_is_exact(view);

	buf_addf(out, "%.1f s: ", (double)state->ns / NS_PER_S);
	if (!exact && state->samples == 0) {
		/*
		 * Do not print "0 objects": there may be objects, because a thread that allocates
		 * little may get no sample.
		 */
		buf_adds(out, "no samples, one in ");
		add_bytes(out, state->interval);
		return;
	}
	buf_adds(out, exact ? "" : "about ");
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

enum { CLASS, COUNT, BYTES, SAMPLES, LIVE_COUNT, LIVE_BYTES, STACK, SHARE };

/* Spaces at the start of a heading reserve the width of the widest values. */
static const struct column columns[] = {
	[CLASS] = { "CLASS", "class", CELL_TEXT, true },
	[COUNT] = { "COUNT", "count", CELL_COUNT, true },
	[BYTES] = { "   BYTES", "bytes", CELL_BYTES, true },
	[SAMPLES] = { NULL, "samples", CELL_NUMBER, true },
	[LIVE_COUNT] = { "LIVE COUNT", "live_count", CELL_COUNT, true },
	[LIVE_BYTES] = { "    LIVE", "live_bytes", CELL_BYTES, true },
	[STACK] = { "(no Java code)", "stack", CELL_STACK, true },
	[SHARE] = { "    %", NULL, CELL_PERCENT, true },
};

/*
 * Returns the site's percentage of the total.  view->order says of which value: bytes, objects,
 * live bytes or live objects.
 */
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

static void add_site(struct table *t, const struct alloc_view *view, const struct alloc_site *site)
{
	table_row(t);
	table_text(t, CLASS, view->alloc->kinds[site->kind]);
	table_unsigned(t, COUNT, site->objects);
	table_unsigned(t, BYTES, site->bytes);
	table_unsigned(t, SAMPLES, site->samples);
	if (alloc_view_is_live(view)) {
		table_unsigned(t, LIVE_COUNT, site->live_objects);
		table_unsigned(t, LIVE_BYTES, site->live_bytes);
	}
	table_real(t, SHARE, share(view, site));
	for (uint32_t i = 0; i < site->n_frames; i++)
		table_frame(t, view->alloc->frames.texts[site->frames[i]]);
}

/* Returns the table of sites, which the caller frees. */
static struct table *sites_table(const struct alloc_view *view)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < view->n; i++)
		add_site(t, view, &view->alloc->sites[view->sites[i]]);
	return t;
}

/*
 * Appends the table of sites.  The percentages are to the right of the column by which sites are
 * sorted.
 */
static void add_sites(struct buf *out, const struct alloc_view *view)
{
	static const struct {
		size_t column;
		enum alloc_order order;
	} shown[] = {
		{ LIVE_BYTES, ALLOC_BY_LIVE_BYTES },
		{ LIVE_COUNT, ALLOC_BY_LIVE_COUNT },
		{ BYTES, ALLOC_BY_BYTES },
		{ COUNT, ALLOC_BY_COUNT },
	};
	struct table *t = sites_table(view);

	for (size_t i = alloc_view_is_live(view) ? 0 : 2; i < ARRAY_SIZE(shown); i++) {
		table_show(t, shown[i].column);
		if (shown[i].order == view->order)
			table_show(t, SHARE);
	}
	table_show(t, CLASS);
	table_limit_stacks(t, view->frames);
	table_add(t, out);
	table_free(t);
}

void alloc_text_add(struct buf *out, const struct alloc_view *view)
{
	alloc_text_summary(out, view);
	buf_addc(out, '\n');
	if (view->n > 0) {
		buf_addc(out, '\n');
		add_sites(out, view);
	}
	if (view->n_hidden == 0)
		return;
	buf_addc(out, '\n');
	limit_add_more(out, view->n_hidden, "site", "sites");
}

struct json *alloc_json(const struct alloc_view *view)
{
	const struct alloc *a = view->alloc;
	const struct alloc_total *total = &view->total;
	bool is_exact = alloc_view_is_exact(view), is_live = alloc_view_is_live(view);
	uint64_t ms = a->state.ns / NS_PER_MS;
	struct table *sites = sites_table(view);
	struct json *json = json_object();

	json_put_known(json, "pid", view->pid > 0, (uint64_t)view->pid);
	json_put_text(json, "file", view->file);
	json_put_bool(json, "exact", is_exact);
	json_put_known(json, "interval", !is_exact, a->state.interval);
	json_put_real(json, "seconds", (double)ms / MS_PER_S);
	json_put_unsigned(json, "total_bytes", total->bytes);
	json_put_unsigned(json, "total_count", total->objects);
	json_put_known(json, "live_count", is_live, total->live_objects);
	json_put_known(json, "live_bytes", is_live, total->live_bytes);
	json_put_unsigned(json, "samples", a->state.samples);
	json_put_unsigned(json, "dropped", a->state.dropped);
	json_put_unsigned(json, "collections", a->state.collections);
	json_put_bool(json, "recorded", a->flags & WIRE_ALLOC_RECORDED);
	json_put(json, "sites", table_json(sites));
	json_put(json, "notes", alloc_notes_json(a));
	table_free(sites);
	return json;
}
