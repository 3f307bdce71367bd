/*
 * An allocation profile as text:
 *
 *     10.0 s: about 6.10 GiB in 180,034,123 objects, by 12,345 samples, one in 512 KiB
 *
 *        BYTES     %        COUNT  CLASS
 *     3.12 GiB  51.2  100,000,000  byte[]
 *           at a.b.Shop.pay(Shop.java:30)
 *           at a.b.Till.run(Till.java:12)
 *
 * If live objects were counted, the text has additional columns on the left.  The profile as JSON:
 *
 *     {"pid":1234,"file":null,"exact":false,"interval":524288,"seconds":10.0,
 *      "total_bytes":…,"total_count":…,"live_bytes":null,"live_count":null,
 *      "samples":…,"dropped":0,"collections":3,"recorded":false,
 *      "sites":[{"class":"byte[]","count":…,"bytes":…,"samples":…,"live_count":null,
 *                "live_bytes":null,"stack":["a.b.C.m(C.java:12)"]}],
 *      "notes":[{"note":"old_code","text":"a.b.C.run(C.java:7)","n":1}]}
 *
 * interval: bytes between two samples; null if every allocation was counted
 * total_*:  include the sites that are not listed
 * live_*:   null unless live objects were counted; outside "sites", these are totals, too
 * recorded: true for a recording since the start of the JVM
 * note:     "old_code", "refused", "full", "not_live"; null for a note of a newer agent
 *
 * Control characters in the target's names are escaped.
 */
#ifndef JTOOL_RENDER_PROFILE_ALLOC_VIEW_H
#define JTOOL_RENDER_PROFILE_ALLOC_VIEW_H

#include <sys/types.h>

#include "model/profile/alloc.h"
#include "render/json.h"

struct alloc_view {
	const struct alloc *alloc;
	/* indexes in alloc->sites of the sites that are shown, in the order of the output */
	const uint32_t *sites;
	size_t n;
	/* number of further sites that match the filters but are hidden by the row limit */
	size_t n_hidden;
	enum alloc_order order;
	struct alloc_total total;   /* total of all sites, including those that are not shown */
	uint32_t frames; /* maximum number of frames of a stack that the text shows; 0: no limit */
	uint32_t age; /* number of collections that an object must have survived to count as live */
	pid_t pid;                  /* 0: the profile is from a file */
	const char *file;           /* NULL: the profile is from a JVM */
};

static inline bool alloc_view_is_live(const struct alloc_view *view)
{
	return view->alloc->flags & WIRE_ALLOC_LIVE;
}

static inline bool alloc_view_is_exact(const struct alloc_view *view)
{
	return view->alloc->flags & WIRE_ALLOC_EXACT;
}

void alloc_text_add(struct buf *out, const struct alloc_view *view);
/* Appends only the first line of the text, without a newline. */
void alloc_text_summary(struct buf *out, const struct alloc_view *view);
/* Returns the JSON document, which the caller frees. */
struct json *alloc_json(const struct alloc_view *view) _must_check_;

/* Appends a note on the completeness of the profile, without a newline. */
void alloc_text_note(struct buf *out, const struct alloc_note *note);
/* Returns all notes as JSON, [{"note","text","n"}], which the caller frees. */
struct json *alloc_notes_json(const struct alloc *a) _must_check_;

#endif
