/*
 * Why objects are alive: the shortest way from a GC root to each of them, and those ways merged
 * that are alike.
 *
 * Alike are ways that begin at roots of one kind, with the same method and in threads whose
 * names differ in digits only, and on which objects of the same classes hold each other in the
 * same fields.  The index in an array does not count; nor does how many objects of one class
 * hold one another, as the nodes of a list or a tree do: they are one stretch of the way.
 * Classes of one name are one, whoever loaded them.
 *
 * Time and memory are in proportion to the objects on the ways, of which a list has a million.
 */
#ifndef JTOOL_MODEL_REFPATHS_H
#define JTOOL_MODEL_REFPATHS_H

#include "base/err.h"
#include "model/heap.h"

struct refpaths_targets {
	uint32_t *nodes;
	size_t n, cap;
};

/*
 * All instances of the classes that a word means (typename_matches), with their subclasses and
 * what implements them if wanted.  EXIT_ANSWER when it means none, with the nearest there are.
 * *only_classes: interfaces were wanted, and nothing tells who implements them: no dump does.
 */
int refpaths_choose(const struct heap *h, const char *word, bool subclasses,
		    struct refpaths_targets *targets, bool *only_classes, struct err *err)
	_must_check_;
/*
 * The class loaders that a word means: label, class, class without the package, name, @hash.
 * EXIT_ANSWER when it means none, or one that stays for as long as the JVM does.
 */
int refpaths_choose_loaders(const struct heap *h, const char *word,
			    struct refpaths_targets *targets, struct err *err) _must_check_;
void refpaths_targets_release(struct refpaths_targets *targets);

/* How many objects there are in a stretch, over the ways of a group. */
struct refpaths_stretch {
	uint32_t least, most;
};

struct refpaths_group {
	uint64_t count;
	uint32_t example; /* the target with the shortest way */
	uint32_t length;  /* objects on it, both ends included */
	uint32_t step;    /* private */
	struct refpaths_stretch *stretches; /* the root's first; NULL for groups not looked into */
	size_t n_stretches;
	bool threads_differ;
};

struct refpaths {
	struct graph_ways ways;
	struct refpaths_group *groups; /* the largest first, then the shortest */
	size_t n_groups;
	size_t n_looked_into;          /* groups */
	uint64_t n_targets;
	uint64_t n_reached;            /* targets with a way */
	uint64_t n_weak;               /* without one, but there is one through weak references */
};

/* weak: weak, soft, final and phantom references count.  Looks into the first n_told groups. */
void refpaths_find(const struct heap *h, const struct refpaths_targets *targets, bool weak,
		   size_t n_told, struct refpaths *paths);
void refpaths_release(struct refpaths *paths);

/* What threads are one kind by their name: "exec-17" is "exec-*".  No name is "". */
void refpaths_thread_kind(const char *name, struct buf *kind);

#endif
