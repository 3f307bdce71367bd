/*
 * Prints one path from a GC root to an object.  The text has a line for each step, with the class
 * of the object and the reference to it.  Consecutive objects of the same class and with the same
 * reference, such as the nodes of a linked list, are one step.  In JSON, each step is one object.
 */
#ifndef JTOOL_RENDER_HEAP_REFPATH_VIEW_H
#define JTOOL_RENDER_HEAP_REFPATH_VIEW_H

#include "model/heap/refpath.h"
#include "model/heap/refpaths.h"
#include "render/json.h"

struct refpath_step {
	const char *class; /* class of the object; NULL: the step stands for skipped steps */
	char *via; /* text for the reference to the object (or to the first skipped one) */
	/* number of objects of the step; or number of skipped steps */
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
	/* index on the path of the object to which `held_by` refers; 0: held_by is NULL */
	size_t static_at;
	size_t length;              /* number of objects on the path, with those in skipped steps */
	struct refpath_step *steps;
	size_t n, via_width;
};

/*
 * Finds the path to a node, which must be reachable.  If the path has more than 1000 steps, skips
 * steps in the middle.  If for_people is set, consecutive objects with the same reference are one
 * step, and the maximum is 40 steps.  `stretches` is an array with the stretches of the path's
 * group (struct refpaths_group); NULL: none.
 */
void refpath_view_init(struct refpath_view *v, const struct heap *h, const struct graph_bfs *bfs,
		       uint32_t node, const struct refpaths_stretch *stretches, bool for_people);
void refpath_view_release(struct refpath_view *v);

/*
 * Appends a text for the root, such as: static a.b.C.FIELD
 * or: a local variable of a.b.C.run in thread "main"
 * threads_differ means that the path's group has roots in several threads.  The text then has the
 * kind of these threads (refpaths_thread_kind()) instead of the thread's name.
 */
void refpath_view_headline(const struct refpath_view *v, bool threads_differ, struct buf *out);
/* Appends a line for each step.  Each line begins with `indent`. */
void refpath_view_add(const struct refpath_view *v, const char *indent, struct buf *out);
/* Adds the members "root" and "steps" to a JSON object. */
void refpath_view_put(const struct refpath_view *v, struct json *object);

#endif
