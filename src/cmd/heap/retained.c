/*
 * retained: what classes, packages and objects keep alive, which an analyser finds out from a
 * heap dump, without one.
 */
#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/heap_source.h"
#include "model/refpath.h"
#include "render/retained.h"

#define TREE_SHARE 100    /* --tree shows what retains a hundredth of the heap */
#define TREE_DEPTH 10
#define TREE_DEPTH_MAX 100
#define SUSPECT_SHARE 10  /* a suspect holds a tenth */
#define MANY 1000000      /* objects that take a while to look at */
#define TEXTS_FROM 1024   /* a String that the tree shows is longer than this */

struct retained_opts {
	struct heap_opts heap;
	unsigned rows, depth; /* 0: all, TREE_DEPTH */
	unsigned min;         /* bytes; 0: TREE_SHARE */
	int sort, by;
	const char *filter;
	bool tree, suspects, weak, strings;
};

static const char *const sorts[] = { "retained", "shallow", "count", "name", NULL };
static const char *const groups[] = { "class", "package", "loader", NULL };
_Static_assert(RETAINED_BY_RETAINED == 0 && RETAINED_BY_SHALLOW == 1 && RETAINED_BY_COUNT == 2 &&
		       RETAINED_BY_NAME == 3, "as in sorts");
_Static_assert(HISTO_CLASS == 0 && HISTO_PACKAGE == 1 && HISTO_LOADER == 2, "as in groups");

#define AT(member) offsetof(struct retained_opts, member)

static const struct opt retained_opt_rows[] = {
	{ 'n', NULL, OPT_NUMBER, AT(rows), "N", "print the first N rows only", NULL },
	{ 0, "sort", OPT_CHOICE, AT(sort), "KEY", "retained (default), shallow, count or name",
	  sorts },
	{ 0, "by", OPT_CHOICE, AT(by), "WHAT", "class (default), package or loader", groups },
	{ 0, "filter", OPT_TEXT, AT(filter), "GLOB", "only classes whose name matches", NULL },
	{ 0, "tree", OPT_FLAG, AT(tree), NULL, "the biggest objects, and what they hold", NULL },
	{ 0, "depth", OPT_NUMBER, AT(depth), "N", "levels of the tree (default 10)", NULL },
	{ 0, "min", OPT_NUMBER, AT(min), "BYTES",
	  "the tree's objects retain as much (default: 1 % of the heap)", NULL },
	{ 0, "suspects", OPT_FLAG, AT(suspects), NULL, "what holds a tenth of the heap, and why",
	  NULL },
	{ 0, "weak", OPT_FLAG, AT(weak), NULL, "weak, soft and other references count, too", NULL },
	{ 0, "strings", OPT_FLAG, AT(strings), NULL, "with the first characters of Strings", NULL },
	HEAP_ROWS(AT(heap)),
	OPT_END,
};

/* All that was found. */
struct findings {
	struct graph_tree tree;
	struct graph_ways ways;
	struct retained rows;
	struct retained_tree top;
	struct retained_suspects suspects;
	bool is_dump;
	struct graph_sum unreached; /* of a dump */
};

static void findings_release(struct findings *f)
{
	graph_tree_release(&f->tree);
	graph_ways_release(&f->ways);
	retained_release(&f->rows);
	retained_tree_release(&f->top);
	retained_suspects_release(&f->suspects);
}

static void find_rows(const struct retained_opts *opts, const struct heap *h, struct findings *f)
{
	retained_sum_up(&f->rows, h, &f->tree, (enum histo_group)opts->by);
	if (opts->filter)
		retained_filter(&f->rows, opts->filter);
	retained_sort(&f->rows, (enum retained_sort)opts->sort);
}

static void find_top(const struct retained_opts *opts, const struct heap *h, struct findings *f)
{
	const struct retained_tree_opts top = {
		.least = opts->min > 0 ? opts->min : f->tree.total / TREE_SHARE,
		.depth = opts->depth > 0 ? opts->depth : TREE_DEPTH,
		.children = opts->rows,
		.weak = opts->weak,
	};

	retained_tree_find(&f->top, h->graph, &f->tree, &top);
}

static void find_ways(const struct retained_opts *opts, const struct heap *h, struct findings *f)
{
	_cleanup_free_ uint32_t *nodes = xcalloc(f->suspects.n + 1, sizeof(*nodes));

	for (size_t i = 0; i < f->suspects.n; i++)
		nodes[i] = f->suspects.list[i].node;
	graph_find_ways_to(h->graph, opts->weak, nodes, f->suspects.n, &f->ways);
}

static void find(const struct ctx *ctx, const struct heap *h, struct findings *f)
{
	const struct retained_opts *opts = ctx->opts;
	struct progress progress;

	progress_begin(&progress);
	if (graph_n(h->graph) > MANY)
		progress_tell(&progress, "finding what retains what: %.1f million objects",
			      graph_n(h->graph) / 1e6);
	graph_find_tree(h->graph, opts->weak, &f->tree);
	steps_add(ctx->steps, "dominators of %llu objects found",
		  (unsigned long long)f->tree.n_reached);
	if (f->is_dump)
		f->unreached = graph_sum_unreached(h->graph, &f->tree);
	if (ctx->json || (!opts->tree && !opts->suspects))
		find_rows(opts, h, f);
	if (opts->tree)
		find_top(opts, h, f);
	if (opts->suspects) {
		retained_suspects_find(&f->suspects, h->graph, &f->tree,
				       f->tree.total / SUSPECT_SHARE);
		find_ways(opts, h, f);
	}
	progress_end(&progress);
}

/* Whose fields the edges of the tree are called by. */
static void want_fields_of_tree(const struct heap *h, const struct retained_tree *top,
				bool *wanted)
{
	for (size_t i = 0; i < top->n; i++) {
		const struct retained_entry *entry = &top->entries[i];
		uint32_t class = GRAPH_NONE;

		if (entry->has_edge)
			class = heap_via_class(h, entry->holder, &entry->edge);
		if (class < h->n_classes)
			wanted[class] = true;
	}
}

static void want_fields_of_ways(const struct heap *h, const struct findings *f, bool *wanted)
{
	for (size_t i = 0; i < f->suspects.n; i++) {
		uint32_t node = f->suspects.list[i].node;
		struct refpath path;

		if (f->ways.parent[node] == GRAPH_NONE)
			continue;
		refpath_find(h->graph, &f->ways, node, &path);
		refpath_want_fields(h, &path, wanted);
		refpath_release(&path);
	}
}

static int name_fields(struct heap_source *source, const struct heap *h, const struct findings *f,
		       struct err *err)
{
	_cleanup_free_ bool *wanted = xcalloc(h->n_classes + 1, sizeof(*wanted));

	want_fields_of_tree(h, &f->top, wanted);
	want_fields_of_ways(h, f, wanted);
	return heap_source_fields(source, wanted, err);
}

static void print_json(const struct ctx *ctx, const struct retained_view *view)
{
	struct json *doc = json_object();

	heap_source_put(ctx, doc);
	retained_put_json(view, doc);
	json_print_take(doc, ctx->out);
}

static void show(const struct ctx *ctx, const struct heap *h, const struct findings *f)
{
	const struct retained_opts *opts = ctx->opts;
	const struct retained_view view = {
		.heap = h,
		.tree = &f->tree,
		.rows = &f->rows,
		.by = (enum histo_group)opts->by,
		.n_rows = opts->rows > 0 && opts->rows < f->rows.n ? opts->rows : f->rows.n,
		.top = opts->tree ? &f->top : NULL,
		.suspects = opts->suspects ? &f->suspects : NULL,
		.ways = &f->ways,
		.unreached = f->is_dump ? &f->unreached : NULL,
	};

	if (ctx->json) {
		print_json(ctx, &view);
		return;
	}
	if (view.top)
		retained_print_tree(&view, ctx->out);
	if (view.top && view.suspects)
		(void)fputc('\n', ctx->out);
	if (view.suspects)
		retained_print_suspects(&view, ctx->out);
	if (!view.top && !view.suspects)
		retained_print_rows(&view, ctx->out);
	if (!view.suspects)
		retained_print_held(&view, ctx->out);
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct retained_opts *opts = ctx->opts;

	if (opts->depth > TREE_DEPTH_MAX)
		return err_set(err, EXIT_USAGE, "--depth: at most %d levels", TREE_DEPTH_MAX);
	if (opts->strings && !opts->tree && !opts->suspects)
		return err_set(err, EXIT_USAGE, "--strings is about --tree and --suspects");
	if ((opts->depth > 0 || opts->min > 0) && !opts->tree)
		return err_set(err, EXIT_USAGE, "--%s is about --tree",
			       opts->depth > 0 ? "depth" : "min");
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct retained_opts *opts = ctx->opts;
	const struct heap_wanted wanted = { .texts_from = opts->strings ? TEXTS_FROM : 0 };
	struct heap_source *source = heap_source_open(ctx, &opts->heap, &wanted, NULL, err);
	struct findings f = { .rows = { 0 } };
	const struct heap *h;
	int rc;

	if (!source)
		return -1;
	h = heap_source_heap(source);
	f.is_dump = heap_source_is_dump(source);
	find(ctx, h, &f);
	rc = name_fields(source, h, &f, err);
	if (rc == 0)
		show(ctx, h, &f);
	findings_release(&f);
	return heap_source_close(source, err) < 0 ? -1 : rc;
}

const struct cmd cmd_retained = {
	.name = "retained",
	.synopsis = "TARGET|FILE.hprof[.gz]",
	.summary = "what classes and objects keep alive",
	.details =
		"What an object retains is what would go with it: itself, and all that is alive\n"
		"through it alone.  A class retains what its instances do together.\n"
		"\n"
		"--tree shows the objects that retain a hundredth of the heap or more, or --min\n"
		"BYTES, below the one that keeps each alive; at most N of each one's with -n N.\n"
		"--suspects shows what holds a tenth of the heap or more in smaller pieces, and\n"
		"the shortest way from a root to it.\n",
	.need = NEED_JVM,
	.takes_dump = true,
	.free_words = -1,
	.opts = retained_opt_rows,
	.opts_size = sizeof(struct retained_opts),
	.check = check,
	.run = run,
};
