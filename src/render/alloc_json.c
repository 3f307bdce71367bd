#include "render/alloc_json.h"

#define NS_PER_MS 1000000
#define MS_PER_S 1e3

static void put_live(struct json *json, const struct alloc_view *view, uint64_t count,
		     uint64_t bytes)
{
	if (!alloc_view_is_live(view)) {
		json_put_null(json, "live_count");
		json_put_null(json, "live_bytes");
		return;
	}
	json_put_unsigned(json, "live_count", count);
	json_put_unsigned(json, "live_bytes", bytes);
}

static struct json *site_json(const struct alloc_view *view, const struct alloc_site *site)
{
	struct json *json = json_object(), *stack = json_array();

	json_put_text(json, "class", view->alloc->kinds[site->kind]);
	json_put_unsigned(json, "count", site->objects);
	json_put_unsigned(json, "bytes", site->bytes);
	json_put_unsigned(json, "samples", site->samples);
	put_live(json, view, site->live_objects, site->live_bytes);
	for (uint32_t i = 0; i < site->n_frames; i++)
		json_put_text(stack, NULL, view->alloc->frames.texts[site->frames[i]]);
	json_put(json, "stack", stack);
	return json;
}

static const char *note_name(uint32_t note)
{
	switch (note) {
	case WIRE_ALLOC_OLD_CODE:
		return "old_code";
	case WIRE_ALLOC_REFUSED:
		return "refused";
	case WIRE_ALLOC_FULL:
		return "full";
	case WIRE_ALLOC_NOT_LIVE:
		return "not_live";
	default:
		return NULL;
	}
}

static struct json *notes_json(const struct alloc *a)
{
	struct json *list = json_array();

	for (size_t i = 0; i < a->n_notes; i++) {
		struct json *json = json_object();

		json_put_text(json, "note", note_name(a->notes[i].note));
		json_put_text(json, "text", a->notes[i].text);
		json_put_unsigned(json, "n", a->notes[i].n);
		json_put(list, NULL, json);
	}
	return list;
}

static void put_origin(struct json *json, const struct alloc_view *view)
{
	if (view->pid > 0)
		json_put_number(json, "pid", view->pid);
	else
		json_put_null(json, "pid");
	json_put_text(json, "file", view->file);
}

struct json *alloc_json(const struct alloc_view *view)
{
	const struct alloc *a = view->alloc;
	struct json *json = json_object(), *sites = json_array();

	put_origin(json, view);
	json_put_bool(json, "exact", alloc_view_is_exact(view));
	if (alloc_view_is_exact(view))
		json_put_null(json, "interval");
	else
		json_put_unsigned(json, "interval", a->state.interval);
	json_put_real(json, "seconds", (double)(a->state.ns / NS_PER_MS) / MS_PER_S);
	json_put_unsigned(json, "total_bytes", view->total.bytes);
	json_put_unsigned(json, "total_count", view->total.objects);
	put_live(json, view, view->total.live_objects, view->total.live_bytes);
	json_put_unsigned(json, "samples", a->state.samples);
	json_put_unsigned(json, "dropped", a->state.dropped);
	json_put_unsigned(json, "collections", a->state.collections);
	json_put_bool(json, "recorded", a->flags & WIRE_ALLOC_RECORDED);
	for (size_t i = 0; i < view->n; i++)
		json_put(sites, NULL, site_json(view, &a->sites[view->sites[i]]));
	json_put(json, "sites", sites);
	json_put(json, "notes", notes_json(a));
	return json;
}
