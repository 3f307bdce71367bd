/*
 * Shortest paths from GC roots to a set of objects, with similar paths merged into groups.
 *
 * Two paths are similar if all of this is the same:
 *  - the kind of the root, its method, and the name of its thread, apart from the numbers in it;
 *  - the classes of the objects, by name and without regard to class loaders;
 *  - the fields by which the objects refer to each other.  Array indices do not count.
 *
 * A stretch is a part of a path: one object, or successive objects of the same class, such as the
 * nodes of a list or tree.  Paths may be similar although their stretches differ in length.
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
 * Selects the class loaders for which `word` is one of: the label, the class name with or without
 * package, the loader's name, the hash with or without '@'.  Returns -1 (EXIT_ANSWER) if no loader
 * is selected, or if the JVM never unloads a selected one.
 */
int refpaths_choose_loaders(const struct heap *h, const char *word,
			    struct refpaths_targets *targets, struct err *err) _must_check_;
void refpaths_targets_release(struct refpaths_targets *targets);

/*
 * A part of the paths of a group: one object, or successive objects of one class.  Its members are
 * the least and the greatest number of these objects on a path of the group.
 */
struct refpaths_stretch {
	uint32_t least, most;
};

struct refpaths_group {
	uint64_t count;   /* number of targets in the group */
	uint32_t example; /* the target with the shortest path */
	uint32_t length;  /* number of objects on the path to `example`, including both ends */
	uint32_t step;    /* number of the last step of the group's paths, see path_tree.h */
	/* in path order, from the root on; NULL: the group is not examined */
	struct refpaths_stretch *stretches;
	size_t n_stretches;
	bool threads_differ; /* the roots of the group's paths belong to several threads */
};

struct refpaths {
	struct graph_bfs bfs;
	/* the largest `count` first; of equal counts, the least `length` first */
	struct refpaths_group *groups;
	size_t n_groups;
	size_t n_examined;          /* number of groups whose `stretches` is not NULL */
	uint64_t n_targets;
	uint64_t n_reached;            /* number of targets that have a path */
	uint64_t n_weak; /* number of targets that are reachable only through weak references */
};

/*
 * Groups the paths to the targets, and fills in the stretches of the first n_examined groups.  With
 * `weak`, paths may contain weak references.
 */
void refpaths_find(const struct heap *h, const struct refpaths_targets *targets, bool weak,
		   size_t n_examined, struct refpaths *paths);
void refpaths_release(struct refpaths *paths);

/* Appends the thread name `name` with "*" for each number: "exec-17" becomes "exec-*". */
void refpaths_thread_kind(const char *name, struct buf *kind);

#endif
