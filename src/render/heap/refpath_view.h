/*
 * Prints one path from a GC root to an object.  The text has a line for each object, with its class
 * and the reference to it.  JSON has the same steps.
 */
#ifndef JTOOL_RENDER_HEAP_REFPATH_VIEW_H
#define JTOOL_RENDER_HEAP_REFPATH_VIEW_H

#include "model/heap/refpath.h"
#include "model/heap/refpaths.h"
#include "render/json.h"

struct refpath_step {
	const char *class; /* class of the object; NULL: the step stands for skipped objects */
	char *via; /* text for the reference to the object, or to the first skipped object */
	/* number of consecutive objects with the same reference, or of skipped objects */
	size_t times;
	/* the stretch (model/heap/refpaths.h) that begins here; NULL: none */
	const struct refpaths_stretch *stretch;
};

struct refpath_view {
	enum heap_stream_root root; /* kind of the root; HEAP_STREAM_ROOTS: unknown */
	bool is_class;              /* the root is the class object of a permanent class */
	const char *thread;         /* name of the root's thread; NULL: none, or unknown */
	char *method;               /* method of the root, "a.b.C.run"; NULL: none, or unknown */
	/* the static field on the path that is closest to the object, "a.b.C.FIELD"; NULL: none */
	char *held_by;
	/* index on the path of the object to which the field `held_by` refers; 0: none */
	size_t static_at;
	size_t length;              /* number of objects on the path, including skipped ones */
	struct refpath_step *steps;
	size_t n, via_width;
};

/*
 * Finds the path to a node, which must be reachable.  Of a path with more than 1000 steps, the
 * middle is skipped.  With for_people, consecutive objects with the same reference are one step,
 * and the middle is skipped if there are more than 40 steps.  `stretches` are the stretches of the
 * group to which the path belongs; NULL: none.
 */
void refpath_view_init(struct refpath_view *v, const struct heap *h, const struct graph_bfs *bfs,
		       uint32_t node, const struct refpaths_stretch *stretches, bool for_people);
void refpath_view_release(struct refpath_view *v);

/*
 * Appends a text for the root: "static a.b.C.FIELD", or "a local variable of a.b.C.run in thread
 * "main"".  If threads_differ, the text names the kind of the threads, not the thread `v->thread`.
 */
void refpath_view_headline(const struct refpath_view *v, bool threads_differ, struct buf *out);
/* Appends a line for each step.  Each line begins with `indent`. */
void refpath_view_add(const struct refpath_view *v, const char *indent, struct buf *out);
/* Adds the members "root" and "steps" to a JSON object. */
void refpath_view_put(const struct refpath_view *v, struct json *object);

#endif
