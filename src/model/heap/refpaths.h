/*
 * Shortest paths from GC roots to a set of objects, with similar paths merged into groups.
 *
 * Paths are similar if they begin at roots of one kind, with the same method, in threads whose
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
 * Selects all instances of the classes that match `word` (type_name_matches), and optionally of
 * their subclasses and implementors.  Returns -1 (EXIT_ANSWER) if no class matches.  Sets
 * *only_classes if `subclasses` is set but implementors are unknown, as in every dump.
 */
int refpaths_choose(const struct heap *h, const char *word, bool subclasses,
		    struct refpaths_targets *targets, bool *only_classes, struct err *err)
	_must_check_;
/*
 * Selects class loaders by label, class, class without package, name, or @hash.  Returns
 * -1 (EXIT_ANSWER) if none match, or if a matching loader is never unloaded.
 */
int refpaths_choose_loaders(const struct heap *h, const char *word,
			    struct refpaths_targets *targets, struct err *err) _must_check_;
void refpaths_targets_release(struct refpaths_targets *targets);

/* The least and the most objects that a stretch has on the paths of a group. */
struct refpaths_stretch {
	uint32_t least, most;
};

struct refpaths_group {
	uint64_t count;   /* number of targets */
	uint32_t example; /* the target with the shortest path */
	uint32_t length;  /* number of objects on this path, both ends included */
	uint32_t step;    /* for refpaths.c only */
	struct refpaths_stretch *stretches; /* the root's first; NULL: group not examined */
	size_t n_stretches;
	bool threads_differ;
};

struct refpaths {
	struct graph_bfs bfs;
	struct refpaths_group *groups; /* by count, descending; then by length */
	size_t n_groups;
	size_t n_examined;          /* number of examined groups */
	uint64_t n_targets;
	uint64_t n_reached;            /* targets with a path */
	uint64_t n_weak;               /* targets with a path through weak references only */
};

/* Groups the paths and examines the first n_examined groups.  weak: as for graph_bfs(). */
void refpaths_find(const struct heap *h, const struct refpaths_targets *targets, bool weak,
		   size_t n_examined, struct refpaths *paths);
void refpaths_release(struct refpaths *paths);

/* Appends the thread name with each number replaced by "*": "exec-17" becomes "exec-*". */
void refpaths_thread_kind(const char *name, struct buf *kind);

#endif
