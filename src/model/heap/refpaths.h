/*
 * Shortest paths from GC roots to a set of objects, with similar paths merged into groups.
 *
 * Two paths are similar if their roots are of one kind, in the same method, and in threads whose
 * names differ only in digits, and if objects of the same classes refer to each other through the
 * same fields.  Array indices are ignored.  A run of objects of one class that refer to one
 * another, such as the nodes of a list or tree, counts as one stretch, whatever its length.
 * Classes with equal names are equal, whatever their loaders.
 *
 * Time and memory are proportional to the number of objects on the paths.
 */
#ifndef JTOOL_MODEL_HEAP_REFPATHS_H
#define JTOOL_MODEL_HEAP_REFPATHS_H

#include "base/err.h"
#include "model/heap/heap.h"

struct refpaths_targets {
	uint32_t *nodes;
	size_t n, cap;
};

/*
 * Selects all instances of the classes that match `word` (type_name_matches), and with `subclasses`
 * also of their subclasses and implementors.  Returns -1 (EXIT_ANSWER) if no class matches.  Sets
 * *only_classes if `subclasses` is set but implementors are unknown, which is so in every dump.
 */
int refpaths_choose(const struct heap *h, const char *word, bool subclasses,
		    struct refpaths_targets *targets, bool *only_classes, struct err *err)
	_must_check_;
/*
 * Selects class loaders by label, class, class without package, name, or @hash.  Returns -1
 * (EXIT_ANSWER) if no loader matches, or if a loader that matches is never unloaded.
 */
int refpaths_choose_loaders(const struct heap *h, const char *word,
			    struct refpaths_targets *targets, struct err *err) _must_check_;
void refpaths_targets_release(struct refpaths_targets *targets);

/* The least and the greatest number of objects that a stretch has, over all paths of a group. */
struct refpaths_stretch {
	uint32_t least, most;
};

struct refpaths_group {
	uint64_t count;   /* number of targets in the group */
	uint32_t example; /* the target with the shortest path */
	uint32_t length;  /* number of objects on the path to `example`, with both ends */
	uint32_t step;    /* used by refpaths.c only */
	/* the root's stretch comes first; NULL: the group is not examined */
	struct refpaths_stretch *stretches;
	size_t n_stretches;
	bool threads_differ;
};

struct refpaths {
	struct graph_bfs bfs;
	struct refpaths_group *groups; /* in descending order of count, then by length */
	size_t n_groups;
	size_t n_examined;          /* number of groups with stretches */
	uint64_t n_targets;
	uint64_t n_reached;            /* number of targets that have a path */
	uint64_t n_weak; /* number of targets that have only paths with weak references */
};

/*
 * Groups the paths to the targets, and examines the first n_examined groups.  `weak` is as for
 * graph_bfs().
 */
void refpaths_find(const struct heap *h, const struct refpaths_targets *targets, bool weak,
		   size_t n_examined, struct refpaths *paths);
void refpaths_release(struct refpaths *paths);

/* Appends the thread name `name` with "*" for each number: "exec-17" becomes "exec-*". */
void refpaths_thread_kind(const char *name, struct buf *kind);

#endif
