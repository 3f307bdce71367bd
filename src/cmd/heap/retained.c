/*
 * The command retained: shows retained sizes by class, package or loader, the dominator tree, and
 * leak suspects.
 */
#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/heap/heap_source.h"
#include "model/heap/refpath.h"
#include "render/heap/retained_view.h"
#include "render/limit.h"

#define TREE_SHARE 100    /* the default of --min is 1/TREE_SHARE of the heap */
#define TREE_DEPTH 10
#define TREE_DEPTH_MAX 100
#define SUSPECT_SHARE 10  /* a leak suspect retains at least 1/SUSPECT_SHARE of the heap */
#define MANY 1000000      /* if a heap has more objects, a progress line is shown */
#define TEXTS_FROM 1024   /* the text of a String is read only if it has this many chars or more */

struct retained_opts {
	struct heap_opts heap;
	unsigned limit,
		depth;        /* value of --depth; 0: use TREE_DEPTH */
	uint64_t min;         /* value of --min in bytes; 0: use 1/TREE_SHARE of the heap */
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
	OPT_GROUP("Classes"),
	{ 0, "by", OPT_CHOICE, AT(by), "WHAT", "class (default), package or loader", groups },
	{ 0, "sort", OPT_CHOICE, AT(sort), "KEY", "retained (default), shallow, count or name",
	  sorts },
	{ 0, "filter", OPT_TEXT, AT(filter), "GLOB", "only classes whose name matches", NULL },
	OPT_LIMIT_ROW(AT(limit), "20"),
	OPT_GROUP("Objects"),
	{ 0, "suspects", OPT_FLAG, AT(suspects), NULL,
	  "show leak suspects: they retain 10 % of the heap or more", NULL },
	{ 0, "tree", OPT_FLAG, AT(tree), NULL, "show the dominator tree of large objects", NULL },
	{ 0, "depth", OPT_NUMBER, AT(depth), "N", "levels of the tree (default 10)", NULL },
	{ 0, "min", OPT_BYTES, AT(min), "SIZE",
	  "least retained size in the tree (default: 1 % of the heap)", NULL },
	{ 0, "strings", OPT_FLAG, AT(strings), NULL, "show the first characters of Strings", NULL },
	OPT_GROUP("How the heap is read"),
	{ 0, "weak", OPT_FLAG, AT(weak), NULL,
	  "follow soft, weak, final and phantom references, too", NULL },
	HEAP_ROWS(AT(heap)),
	OPT_END,
};

struct findings {
	struct dominators tree;
	struct graph_bfs paths;
	struct retained rows;
	struct retained_tree top;
	struct retained_suspects suspects;
	bool is_dump;
	struct graph_sum unreached; /* number and bytes of the unreachable objects in a dump */
};

static void findings_release(struct findings *f)
{
	dominators_release(&f->tree);
	graph_bfs_release(&f->paths);
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

static void find_top(const struct ctx *ctx, const struct heap *h, struct findings *f)
{
	const struct retained_opts *opts = ctx->opts;
	const struct retained_tree_opts top = {
		.least = opts->min > 0 ? opts->min : f->tree.total / TREE_SHARE,
		.depth = opts->depth > 0 ? opts->depth : TREE_DEPTH,
		.children = limit_rows(opts->limit, ctx->json, LIMIT_ROWS, UINT32_MAX),
		.weak = opts->weak,
	};

	retained_tree_find(&f->top, h->graph, &f->tree, &top);
}

static void find_paths(const struct retained_opts *opts, const struct heap *h, struct findings *f)
{
	_cleanup_free_ uint32_t *nodes = xcalloc(f->suspects.n + 1, sizeof(*nodes));

	for (size_t i = 0; i < f->suspects.n; i++)
		nodes[i] = f->suspects.list[i].node;
	graph_bfs_to(h->graph, opts->weak, nodes, f->suspects.n, &f->paths);
}

static void find(const struct ctx *ctx, const struct heap *h, struct findings *f)
{
	const struct retained_opts *opts = ctx->opts;
	struct progress progress;

	progress_begin(&progress);
	if (graph_n(h->graph) > MANY)
		progress_show(&progress, "computing retained sizes: %.1f million objects",
			      graph_n(h->graph) / 1e6);
	dominators_find(h->graph, opts->weak, &f->tree);
	verbose_step(ctx->steps, "found the dominators of %llu objects",
		     (unsigned long long)f->tree.n_reached);
	if (f->is_dump)
		f->unreached = graph_sum_unreached(h->graph, &f->tree);
	if (ctx->json || (!opts->tree && !opts->suspects))
		find_rows(opts, h, f);
	if (opts->tree)
		find_top(ctx, h, f);
	if (opts->suspects) {
		retained_suspects_find(&f->suspects, h->graph, &f->tree,
				       f->tree.total / SUSPECT_SHARE);
		find_paths(opts, h, f);
	}
	progress_end(&progress);
}

/* Sets wanted[class] for each class of which the printed tree shows field names. */
static void want_fields_of_tree(const struct heap *h, const struct retained_tree *top, bool *wanted)
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

static void want_fields_of_paths(const struct heap *h, const struct findings *f, bool *wanted)
{
	for (size_t i = 0; i < f->suspects.n; i++) {
		uint32_t node = f->suspects.list[i].node;
		struct refpath path;

		if (f->paths.parent[node] == GRAPH_NONE)
			continue;
		refpath_find(h->graph, &f->paths, node, &path);
		refpath_want_fields(h, &path, wanted);
		refpath_release(&path);
	}
}

static int name_fields(struct heap_source *source, const struct heap *h, const struct findings *f,
		       struct err *err)
{
	_cleanup_free_ bool *wanted = xcalloc(h->n_classes + 1, sizeof(*wanted));

	want_fields_of_tree(h, &f->top, wanted);
	want_fields_of_paths(h, f, wanted);
	return heap_source_fields(source, wanted, err);
}

static void print_json(const struct ctx *ctx, const struct heap_source *source,
		       const struct retained_view *view)
{
	struct json *doc = json_object();

	heap_source_put(source, ctx, doc);
	retained_put(view, doc);
	json_print_take(doc, ctx->out);
}

static void show(const struct ctx *ctx, const struct heap_source *source, const struct heap *h,
		 const struct findings *f)
{
	const struct retained_opts *opts = ctx->opts;
	const struct retained_view view = {
		.heap = h,
		.tree = &f->tree,
		.rows = &f->rows,
		.by = (enum histo_group)opts->by,
		.n_rows = limit_rows(opts->limit, ctx->json, LIMIT_ROWS, f->rows.n),
		.top = opts->tree ? &f->top : NULL,
		.suspects = opts->suspects ? &f->suspects : NULL,
		.bfs = &f->paths,
		.unreached = f->is_dump ? &f->unreached : NULL,
	};

	if (ctx->json) {
		print_json(ctx, source, &view);
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
		return err_set(err, EXIT_USAGE, "invalid --depth: expected at most %d levels",
			       TREE_DEPTH_MAX);
	if (opts->strings && !opts->tree && !opts->suspects)
		return err_set(err, EXIT_USAGE, "--strings needs --tree or --suspects");
	if ((opts->depth > 0 || opts->min > 0) && !opts->tree)
		return err_set(err, EXIT_USAGE, "--%s needs --tree",
			       opts->depth > 0 ? "depth" : "min");
	return heap_opts_check(&opts->heap, NULL, err);
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
		show(ctx, source, h, &f);
	findings_release(&f);
	return heap_source_close(source, err) < 0 ? -1 : rc;
}

const struct cmd cmd_retained = {
	.name = "retained",
	.synopsis = "[TARGET|FILE.hprof[.gz]]",
	.summary = "find a memory leak: what keeps the most memory alive",
	.examples = (const struct example[]){
		{ "retained 4711 --suspects", "what holds the most, with the path from a GC root" },
		{ "retained 4711", "retained size by class" },
		{ "retained app.hprof.gz --tree", "dominator tree of a heap dump" },
		{ NULL, NULL },
	},
	.details =
		"The retained size of an object is the memory that would be freed with it: its\n"
		"own and that of all objects that are reachable only through it.  The retained\n"
		"size of a class is that of all its instances together.\n"
		"\n"
		"--tree shows each object below its dominator if it retains 1 % of the heap or\n"
		"more, or --min SIZE; -n N shows at most N of each dominator.  --suspects shows\n"
		"objects and classes that retain 10 % of the heap or more in smaller pieces, with\n"
		"the shortest path from a GC root.\n"
		"\n"
		"'jtool leaks' is retained --suspects, 'jtool dominators' is retained --tree.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.parses = true,
	.takes_file = true,
	.free_words = -1,
	.opts = retained_opt_rows,
	.opts_size = sizeof(struct retained_opts),
	.check = check,
	.run = run,
};
