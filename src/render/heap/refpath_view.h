/*
 * One path from a GC root to an object.  The text has a line for each object, with its class and
 * the reference to it; the JSON has the same steps.
 */
#ifndef JTOOL_RENDER_HEAP_REFPATH_VIEW_H
#define JTOOL_RENDER_HEAP_REFPATH_VIEW_H

#include "model/heap/refpath.h"
#include "model/heap/refpaths.h"
#include "render/json.h"

struct refpath_step {
	const char *class; /* NULL: the step stands for skipped objects */
	char *via;         /* the reference to the object, or to the first skipped object */
	size_t times;      /* consecutive objects with the same reference, or skipped objects */
	const struct refpaths_stretch *stretch; /* the stretch that begins here; NULL: none */
};

struct refpath_view {
	enum heap_stream_root root; /* HEAP_STREAM_ROOTS: unknown */
	bool is_class;              /* the root is the class object of a permanent class */
	const char *thread;         /* of the root; NULL: none, or unknown */
	char *method;               /* "a.b.C.run"; NULL: none, or unknown */
	char *held_by;              /* last static field on the path, "a.b.C.FIELD"; NULL: none */
	size_t static_at;           /* path index of the object in the field held_by; 0: none */
	size_t length;              /* objects on the path, including skipped ones */
	struct refpath_step *steps;
	size_t n, via_width;
};

/*
 * Finds the path to a reached node.  Skips the middle of a path of more than 1000 steps.  With
 * for_people, merges consecutive objects with the same reference into one step, and skips the
 * middle of a path of more than 40.  `stretches` are those of the path's group, or NULL.
 */
void refpath_view_init(struct refpath_view *v, const struct heap *h, const struct graph_bfs *bfs,
		       uint32_t node, const struct refpaths_stretch *stretches, bool for_people);
void refpath_view_release(struct refpath_view *v);

/* Appends "static a.b.C.FIELD" or "a local variable of a.b.C.run in thread "main"". */
void refpath_view_headline(const struct refpath_view *v, bool threads_differ, struct buf *out);
/* Appends a line for each step, with `indent` in front. */
void refpath_view_add(const struct refpath_view *v, const char *indent, struct buf *out);
/* Adds "root" and "steps" to a JSON object. */
void refpath_view_put(const struct refpath_view *v, struct json *object);

#endif
