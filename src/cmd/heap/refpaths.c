/*
 * The command refpaths: shows paths from GC roots to the instances of a class, or to class loaders.
 */
#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/heap/heap_source.h"
#include "model/heap/refpath.h"
#include "render/heap/refpaths_view.h"
#include "render/limit.h"

#define GROUPS_SHOWN 5

struct refpaths_opts {
	unsigned limit;
	bool subclasses, weak;
	const char *loader;
	struct heap_opts heap;
};

#define MANY 1000000 /* if a heap has more objects, a progress line is shown */

#define AT(member) offsetof(struct refpaths_opts, member)

static const struct opt refpaths_rows[] = {
	OPT_LIMIT_ROW(AT(limit), "5"),
	{ 0, "subclasses", OPT_FLAG, AT(subclasses), NULL,
	  "include instances of subclasses and implementors", NULL },
	{ 0, "weak", OPT_FLAG, AT(weak), NULL,
	  "follow soft, weak, final and phantom references, too", NULL },
	{ 0, "to", OPT_TEXT, AT(loader), "LOADER", "show paths to class loaders instead", NULL },
	HEAP_ROWS(AT(heap)),
	OPT_END,
};

static int choose(const struct ctx *ctx, const struct heap *h, struct refpaths_targets *targets,
		  struct err *err)
{
	const struct refpaths_opts *opts = ctx->opts;
	bool only_classes;

	if (opts->loader)
		return refpaths_choose_loaders(h, opts->loader, targets, err);
	if (refpaths_choose(h, ctx->args[0], opts->subclasses, targets, &only_classes, err) < 0)
		return -1;
	if (only_classes && targets->n == 0)
		cmd_print_notice(ctx->cmd, "a heap dump does not record which classes implement an "
					   "interface: only subclasses are included");
	return 0;
}

/* Fetches from the agent the names of the fields that are shown, and no others. */
static int fetch_fields(struct heap_source *source, const struct refpaths *paths, struct err *err)
{
	const struct heap *h = heap_source_heap(source);
	_cleanup_free_ bool *wanted = xcalloc(h->n_classes, sizeof(*wanted));

	for (size_t i = 0; i < paths->n_examined; i++) {
		struct refpath path;

		refpath_find(h->graph, &paths->bfs, paths->groups[i].example, &path);
		refpath_want_fields(h, &path, wanted);
		refpath_release(&path);
	}
	return heap_source_fields(source, wanted, err);
}

static void show_json(const struct ctx *ctx, struct heap_source *source,
		      const struct refpaths *paths, bool partial)
{
	const struct refpaths_opts *opts = ctx->opts;
	struct json *doc = json_object();

	heap_source_put(source, ctx, doc);
	json_put_text(doc, "class", opts->loader ? NULL : ctx->args[0]);
	json_put_text(doc, "loader", opts->loader);
	json_put_bool(doc, "partial", partial);
	refpaths_put(doc, heap_source_heap(source), paths);
	json_print_take(doc, ctx->out);
}

static void show_text(const struct ctx *ctx, const struct heap *h, const struct refpaths *paths)
{
	const struct refpaths_opts *opts = ctx->opts;
	const char *many = paths->n_targets == 1 ? "" : "s";
	_cleanup_free_ char *what =
		opts->loader ? xasprintf("class loader%s '%s'", many, opts->loader) :
			       xasprintf("instance%s of %s", many, ctx->args[0]);

	refpaths_print(h, paths, what, ctx->out);
}

static int find_and_show(const struct ctx *ctx, struct heap_source *source,
			 const struct refpaths_targets *targets, bool partial, struct err *err)
{
	const struct refpaths_opts *opts = ctx->opts;
	const struct heap *h = heap_source_heap(source);
	struct progress line;
	struct refpaths paths;
	int rc;

	progress_begin(&line);
	if (graph_n(h->graph) > MANY)
		progress_show(&line, "searching paths: %.1f million objects",
			      graph_n(h->graph) / 1e6);
	refpaths_find(h, targets, opts->weak,
		      limit_rows(opts->limit, ctx->json, GROUPS_SHOWN, SIZE_MAX), &paths);
	progress_end(&line);
	verbose_step(ctx->steps, "%zu target objects; %zu kinds of paths to them",
		     targets->n, paths.n_groups);
	rc = fetch_fields(source, &paths, err);
	if (rc == 0 && ctx->json)
		show_json(ctx, source, &paths, partial);
	else if (rc == 0)
		show_text(ctx, h, &paths);
	refpaths_release(&paths);
	return rc;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct refpaths_opts *opts = ctx->opts;

	if (!opts->loader && ctx->n_args == 0)
		return err_set(err, EXIT_USAGE, "missing CLASS: give a class after TARGET, "
						"or a class loader with --to");
	if (opts->loader && (ctx->n_args > 0 || opts->subclasses))
		return err_set(err, EXIT_USAGE, "--to cannot be combined with CLASS or "
						"--subclasses: it shows paths to class loaders");
	return heap_opts_check(&opts->heap, NULL, err);
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct refpaths_opts *opts = ctx->opts;
	const struct heap_wanted wanted = { 0 };
	bool partial = false;
	struct heap_source *source = heap_source_open(ctx, &opts->heap, &wanted, &partial, err);
	struct refpaths_targets targets = { 0 };
	int rc;

	if (!source)
		return -1;
	rc = choose(ctx, heap_source_heap(source), &targets, err);
	if (rc == 0)
		rc = find_and_show(ctx, source, &targets, partial, err);
	refpaths_targets_release(&targets);
	if (heap_source_close(source, err) < 0)
		rc = -1;
	if (rc == 0 && partial)
		return err_set(err, EXIT_PARTIAL, "the heap walk was stopped: the result covers "
						  "a part of the heap; allow more with "
						  "--max-pause or --max-memory");
	return rc;
}

/*
 * Returns the least number of arguments.  With --to, which names a class loader, the argument CLASS
 * may be omitted.
 */
static int least_args(const void *values)
{
	const struct refpaths_opts *opts = values;

	return opts->loader ? 0 : 1;
}

const struct cmd cmd_refpaths = {
	.name = "refpaths",
	.aliases = "gcroots",
	.synopsis = "[TARGET|FILE.hprof[.gz]] CLASS",
	.summary = "show paths from GC roots to instances: why they are alive",
	.examples = (const struct example[]){
		{ "refpaths 4711 com.acme.Session", "why instances are reachable" },
		{ "refpaths app.hprof com.acme.Session", "the same in a heap dump" },
		{ NULL, NULL },
	},
	.details =
		"Finds the shortest path to each instance, and merges similar paths.  A line is\n"
		"an object: the reference to it, and its class.\n"
		"\n"
		"--to LOADER shows paths to class loaders.  LOADER is a label as shown by 'jtool\n"
		"classes', a class with or without the package, a name, or a @HASH.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.least_args = least_args,
	.parses = true,
	.takes_file = true,
	.min_args = 0,
	.max_args = 1,
	.free_words = -1,
	.opts = refpaths_rows,
	.opts_size = sizeof(struct refpaths_opts),
	.check = check,
	.run = run,
};
