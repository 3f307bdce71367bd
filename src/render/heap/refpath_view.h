/*
 * Prints one path from a GC root to an object.  The text has a line for each step.  A step is an
 * object, or several consecutive objects with the same class and the same reference to them; its
 * line has the class and the reference.  In JSON, each step is one object.
 */
#ifndef JTOOL_RENDER_HEAP_REFPATH_VIEW_H
#define JTOOL_RENDER_HEAP_REFPATH_VIEW_H

#include "model/heap/refpath.h"
#include "model/heap/refpaths.h"
#include "render/json.h"

struct refpath_step {
	const char *class; /* class of the object; NULL: the step stands for skipped steps */
	char *via; /* text for the reference to the object (or to the first skipped one) */
	/* number of consecutive objects with the same reference; or of skipped steps */
	size_t times;
	/* the stretch (model/heap/refpaths.h) that begins here; NULL: none */
	const struct refpaths_stretch *stretch;
};

struct refpath_view {
	enum heap_stream_root root; /* kind of the root; HEAP_STREAM_ROOTS: unknown */
	bool is_class; /* the root is the java.lang.Class of a class that is never unloaded */
	const char *thread;         /* name of the thread with the root; NULL: none, or unknown */
	/* the method in whose stack frame the root is, "a.b.C.run"; NULL: none, or unknown */
	char *method;
	/* the last static field on the path, "a.b.C.FIELD"; NULL: the path has none */
	char *held_by;
	/* index on the path of the object to which this field refers; 0: no such field */
	size_t static_at;
	size_t length;              /* number of objects on the path, with those in skipped steps */
	struct refpath_step *steps;
	size_t n, via_width;
};

/*
 * Finds the path to a node, which must be reachable.  If the path has more than 1000 steps, skips
 * steps in the middle.  If for_people is set, consecutive objects with the same reference are one
 * step, and the maximum is 40 steps.  `stretches` are the stretches (model/heap/refpaths.h) of the
 * group to which the path belongs; NULL: none.
 */
void refpath_view_init(struct refpath_view *v, const struct heap *h, const struct graph_bfs *bfs,
		       uint32_t node, const struct refpaths_stretch *stretches, bool for_people);
void refpath_view_release(struct refpath_view *v);

/*
 * Appends a text for the root, such as: static a.b.C.FIELD
 * or: a local variable of a.b.C.run in thread "main"
 * If threads_differ is set, several threads have such a root, so the text has the kind of these
 * threads (refpaths_thread_kind()) instead of v->thread.
 */
void refpath_view_headline(const struct refpath_view *v, bool threads_differ, struct buf *out);
/* Appends a line for each step.  Each line begins with `indent`. */
void refpath_view_add(const struct refpath_view *v, const char *indent, struct buf *out);
/* Adds the members "root" and "steps" to a JSON object. */
void refpath_view_put(const struct refpath_view *v, struct json *object);

#endif
