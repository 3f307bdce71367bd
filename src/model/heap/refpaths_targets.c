#include <string.h>
#include <strings.h>

#include "base/intern.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "base/suggest.h"
#include "model/heap/refpaths.h"
#include "model/class/type_name.h"
#include "wire/glob.h"

#define CANDIDATES_MAX 400 /* approximate limit in bytes for the labels that an error text lists */

void refpaths_targets_release(struct refpaths_targets *targets)
{
	free(targets->nodes);
	*targets = (struct refpaths_targets){ 0 };
}

static void add_target(struct refpaths_targets *targets, uint32_t node)
{
	targets->nodes = xgrow(targets->nodes, targets->n, &targets->cap, sizeof(*targets->nodes));
	targets->nodes[targets->n++] = node;
}

static const char *class_name(const void *heap, size_t i)
{
	return heap_class_name(heap, (uint32_t)i);
}

static int refuse_class(const struct heap *h, const char *word, struct err *err)
{
	struct suggestions near = SUGGEST_INIT(word);
	int rc;

	suggest_offer_classes(&near, class_name, h, h->n_classes);
	rc = err_set(err, EXIT_ANSWER, "no class matches '%.200s'%s", word,
		     near.n > 0 ? suggest_hint(&near) : "; list classes with jtool heaphisto");
	suggest_release(&near);
	return rc;
}

/* For each class, the list of its direct subtypes. */
struct subtypes {
	struct {
		uint32_t class;
		size_t next; /* 1 + index of the next entry in the same list; 0: none */
	} *entries;
	size_t n, cap;
	size_t *first; /* indexed by class: 1 + index of the first entry in its list; 0: none */
	bool has_interfaces;
};

static void add_subtype(struct subtypes *s, uint32_t class, uint32_t super)
{
	s->entries = xgrow(s->entries, s->n, &s->cap, sizeof(*s->entries));
	s->entries[s->n].class = class;
	s->entries[s->n++].next = s->first[super];
	s->first[super] = s->n;
}

static void find_subtypes(const struct heap *h, struct subtypes *s)
{
	s->first = xcalloc(h->n_classes, sizeof(*s->first));
	for (uint32_t i = 0; i < h->n_classes; i++) {
		uint32_t mirror = graph_mirror(h->graph, i), super;
		struct graph_edges edges;
		struct graph_edge edge;

		if (mirror == GRAPH_NONE)
			continue;
		edges = graph_edges(h->graph, mirror);
		while (graph_next(&edges, &edge)) {
			if (edge.via != GRAPH_LINK || (edge.index != HEAP_STREAM_SUPERCLASS &&
						       edge.index != HEAP_STREAM_INTERFACE))
				continue;
			s->has_interfaces |= edge.index == HEAP_STREAM_INTERFACE;
			super = graph_stands_for(h->graph, edge.to);
			if (super < h->n_classes)
				add_subtype(s, i, super);
		}
	}
}

/* Selects all subtypes, direct and indirect, of the classes that are selected. */
static void select_subtypes(const struct heap *h, const struct subtypes *s, bool *selected)
{
	_cleanup_free_ uint32_t *todo = xcalloc(h->n_classes, sizeof(*todo));
	size_t n = 0;

	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (selected[i])
			todo[n++] = i;
	}
	while (n > 0) {
		for (size_t at = s->first[todo[--n]]; at > 0; at = s->entries[at - 1].next) {
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): at <= s->n */
			uint32_t class = s->entries[at - 1].class;

			if (selected[class])
				continue;
			selected[class] = true;
			todo[n++] = class; /* there is room, because each class is added once */
		}
	}
}

/*
 * Returns true if java.lang.Object is selected.  If so, the caller selects all classes.  It cannot
 * search for the subclasses of java.lang.Object, because FollowReferences never reports
 * java.lang.Object as a superclass.
 */
static bool is_object_selected(const struct heap *h, const bool *selected)
{
	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (selected[i] && strcmp(heap_class_name(h, i), "java.lang.Object") == 0)
			return true;
	}
	return false;
}

static void select_subclasses(const struct heap *h, bool *selected, bool *only_classes)
{
	struct subtypes s = { 0 };

	if (is_object_selected(h, selected)) {
		memset(selected, true, h->n_classes);
		return;
	}
	find_subtypes(h, &s);
	*only_classes = !s.has_interfaces;
	select_subtypes(h, &s, selected);
	free(s.entries);
	free(s.first);
}

int refpaths_choose(const struct heap *h, const char *word, bool subclasses,
		    struct refpaths_targets *targets, bool *only_classes, struct err *err)
{
	_cleanup_free_ bool *selected = xcalloc(h->n_classes, sizeof(*selected));
	bool any = false;

	*only_classes = false;
	word = type_name_resolve(word, class_name, h, h->n_classes, err);
	if (!word)
		return -1;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		selected[i] = type_name_matches(heap_class_name(h, i), word);
		any |= selected[i];
	}
	if (!any)
		return refuse_class(h, word, err);
	if (subclasses)
		select_subclasses(h, selected, only_classes);
	for (uint32_t node = 0; node < graph_n(h->graph); node++) {
		uint32_t class = graph_class(h->graph, node);

		if (class < h->n_classes && selected[class] && !graph_is_own(h->graph, node))
			add_target(targets, node);
	}
	return 0;
}

static bool is_part(const char *from, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(from, word, len) == 0;
}

/*
 * Returns whether `word` is the name or the hash in a label such as "a.b.Loader 'name' @1f2e3d4c".
 */
static bool is_in_label(const char *label, const char *word)
{
	const char *hash = strrchr(label, '@'), *open = strchr(label, '\''), *close = NULL;

	if (hash && is_part(hash + 1, strlen(hash + 1), word + (*word == '@')))
		return true;
	if (open)
		close = strrchr(open + 1, '\'');
	return close && is_part(open + 1, (size_t)(close - open - 1), word);
}

/* Returns whether `word` is the class's name, which may lack the package and outer classes. */
static bool is_class(const char *class, const char *word)
{
	size_t len = strlen(class), n = strlen(word);
	const char *end = len >= n ? class + len - n : NULL;

	return end && strcmp(end, word) == 0 && (end == class || end[-1] == '.' || end[-1] == '$');
}

static bool is_loader(const char *label, const char *class, const char *word)
{
	if (strpbrk(word, "*?"))
		return glob_matches(word, class);
	return strcmp(label, word) == 0 || is_class(class, word) || is_in_label(label, word);
}

static bool has_target(const struct refpaths_targets *targets, uint32_t node)
{
	for (size_t i = 0; i < targets->n; i++) {
		if (targets->nodes[i] == node)
			return true;
	}
	return false;
}

/*
 * Returns true if at least one class of the loader with this label is permanent.  Such a loader may
 * also have classes that are not permanent, namely hidden classes.
 */
static bool is_permanent(const struct heap *h, const char *label)
{
	for (size_t i = 0; i < h->n_classes; i++) {
		if (h->classes[i].permanent && h->classes[i].loader &&
		    strcmp(h->classes[i].loader, label) == 0)
			return true;
	}
	return false;
}

static int refuse_loader(const struct heap *h, const char *word, struct err *err)
{
	_cleanup_buf_ struct buf labels = BUF_INIT;
	struct intern seen = { .n = 0 };

	for (size_t i = 0; i < h->n_classes; i++) {
		const char *label = h->classes[i].loader;
		size_t n = seen.n;

		if (!label || h->classes[i].permanent)
			continue;
		(void)intern_text(&seen, label);
		if (seen.n == n || is_permanent(h, label))
			continue;
		if (labels.len >= CANDIDATES_MAX) {
			buf_adds(&labels, " and others; list all with jtool classes");
			break;
		}
		buf_adds(&labels, labels.len > 0 ? ", " : "");
		printable_add(&labels, label, strlen(label));
	}
	intern_release(&seen);
	if (labels.len == 0)
		return err_set(err, EXIT_ANSWER, "no class loader matches '%.100s': there are "
			       "only built-in class loaders", word);
	return err_set(err, EXIT_ANSWER, "no class loader matches '%.100s'; choose from %s", word,
		       buf_str(&labels));
}

int refpaths_choose_loaders(const struct heap *h, const char *word,
			    struct refpaths_targets *targets, struct err *err)
{
	for (uint32_t i = 0; i < h->n_classes; i++) {
		const struct heap_class *class = &h->classes[i];
		uint32_t loader = graph_loader(h->graph, i);
		const char *loader_class = "";

		if (loader != GRAPH_NONE)
			loader_class = heap_node_class(h, loader);
		if (!is_loader(class->loader ? class->loader : "", loader_class, word))
			continue;
		if (class->permanent)
			return err_set(err, EXIT_ANSWER, "the JVM never unloads class loader "
				       "'%.100s', so it needs no path", word);
		if (loader != GRAPH_NONE && !has_target(targets, loader))
			add_target(targets, loader);
	}
	return targets->n > 0 ? 0 : refuse_loader(h, word, err);
}
