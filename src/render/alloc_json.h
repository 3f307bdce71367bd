/*
 * An allocation profile as JSON:
 *
 *     {"pid":1234,"file":null,"exact":false,"interval":524288,"seconds":10.0,
 *      "total_bytes":…,"total_count":…,"live_bytes":null,"live_count":null,
 *      "samples":…,"dropped":0,"collections":3,"recorded":false,
 *      "sites":[{"class":"byte[]","count":…,"bytes":…,"samples":…,"live_count":null,
 *                "live_bytes":null,"stack":["a.b.C.m(C.java:12)"]}],
 *      "notes":[{"note":"old_code","text":"a.b.C.run(C.java:7)","n":1}]}
 *
 * interval: null if every allocation was counted
 * totals:   of all sites, also those that are not among "sites"
 * live_*:   null if it was not asked what is alive
 * recorded: since the JVM's start
 * note:     "old_code", "refused", "full", "not_live", or null: a later agent's
 */
#ifndef JTOOL_RENDER_ALLOC_JSON_H
#define JTOOL_RENDER_ALLOC_JSON_H

#include "render/alloc_view.h"
#include "render/json.h"

/* The document, which is the caller's. */
struct json *alloc_json(const struct alloc_view *view) _must_check_;

#endif
