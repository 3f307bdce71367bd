/*
 * alloc: what came, as a table or JSON, and as files.
 */
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "cmd/alloc.h"
#include "model/redefinition.h"
#include "model/typename.h"
#include "render/alloc_json.h"
#include "render/alloc_text.h"

#define FRAMES_SHOWN 10 /* of a stack; all of them with --verbose, and in JSON */

static enum alloc_order order_of(const struct alloc_opts *opts, const struct alloc *a)
{
	if (opts->sort >= 0)
		return (enum alloc_order)opts->sort;
	return a->flags & WIRE_ALLOC_LIVE ? ALLOC_BY_LIVE_BYTES : ALLOC_BY_BYTES;
}

static bool is_meant(const struct ctx *ctx, const struct alloc *a, const struct alloc_site *site,
		     enum alloc_order order)
{
	if (order >= ALLOC_BY_LIVE_BYTES && site->live_objects == 0)
		return false;
	for (int i = 0; i < ctx->n_args; i++) {
		if (typename_matches(a->kinds[site->kind], ctx->args[i]))
			return true;
	}
	return ctx->n_args == 0;
}

static size_t most_rows(const struct ctx *ctx)
{
	const struct alloc_opts *opts = ctx->opts;

	if (opts->rows == ALLOC_UNSET)
		return ctx->json ? SIZE_MAX : ALLOC_ROWS;
	return opts->rows > 0 ? opts->rows : SIZE_MAX;
}

/* All sites that are meant, in order; the caller frees them. */
static uint32_t *choose(const struct ctx *ctx, const struct alloc *a, enum alloc_order order,
			size_t *n)
{
	uint32_t *sites = xcalloc(a->n + 1, sizeof(*sites));

	*n = 0;
	for (size_t i = 0; i < a->n; i++) {
		if (is_meant(ctx, a, &a->sites[i], order))
			sites[(*n)++] = (uint32_t)i;
	}
	return sites;
}

/* What is in files: all sites that are meant, also those that -n hides. */
static void add_stacks(struct stacktree *tree, const struct alloc_view *view)
{
	bool by_count = view->order == ALLOC_BY_COUNT || view->order == ALLOC_BY_LIVE_COUNT;
	bool live = view->order >= ALLOC_BY_LIVE_BYTES;
	uint32_t most = view->alloc->depth > 0 ? view->alloc->depth : WIRE_ALLOC_DEPTH;

	for (size_t i = 0; i < view->n + view->n_hidden; i++) {
		const struct alloc_site *site = &view->alloc->sites[view->sites[i]];
		uint64_t bytes = live ? site->live_bytes : site->bytes;
		uint64_t objects = live ? site->live_objects : site->objects;
		const uint64_t values[STACKTREE_VALUES] = { by_count ? objects : bytes,
							    by_count ? bytes : objects };
		uint32_t node = stacktree_begin(tree, site->n_frames, most);

		for (uint32_t k = site->n_frames; k-- > 0;)
			node = stacktree_child(tree, node,
					       view->alloc->frames.texts[site->frames[k]]);
		node = stacktree_child(tree, node, view->alloc->kinds[site->kind]);
		stacktree_add(tree, node, values);
	}
}

static void add_title(struct buf *out, const struct alloc_view *view, const struct ctx *ctx)
{
	const char *main = ctx->jvm ? jvm_simple_main(ctx->jvm) : NULL;

	buf_adds(out, view->order >= ALLOC_BY_LIVE_BYTES ? "What is alive of " : "");
	buf_adds(out, "allocations");
	if (view->file)
		buf_addf(out, " of %s", view->file);
	else
		buf_addf(out, " of JVM %d%s%s", (int)view->pid, main ? ", " : "",
			 main ? main : "");
	if (out->data[0] == 'a')
		out->data[0] = 'A';
}

static int write_files(const struct ctx *ctx, const struct alloc_view *view,
		       struct stackfiles *files, struct err *err)
{
	bool by_count = view->order == ALLOC_BY_COUNT || view->order == ALLOC_BY_LIVE_COUNT;
	_cleanup_buf_ struct buf title = BUF_INIT, subtitle = BUF_INIT;
	struct stacktree tree;
	int rc;

	if (!files->open[STACKFILE_COLLAPSED] && !files->open[STACKFILE_FLAMEGRAPH])
		return 0;
	stacktree_init(&tree, by_count ? "objects" : "bytes", by_count ? "bytes" : "objects");
	tree.ends_in_classes = true;
	add_stacks(&tree, view);
	add_title(&title, view, ctx);
	alloc_text_summary(&subtitle, view);
	rc = stackfiles_write(files, ctx, &tree, buf_str(&title), buf_str(&subtitle), err);
	stacktree_release(&tree);
	return rc;
}

/* A file that goes to stdout has it for itself. */
static bool is_stdout_taken(const struct alloc_opts *opts)
{
	return (opts->collapsed && strcmp(opts->collapsed, "-") == 0) ||
	       (opts->flamegraph && strcmp(opts->flamegraph, "-") == 0);
}

/* A sentence where there is no table. */
static void say_nothing(const struct ctx *ctx, const struct alloc_view *view)
{
	const struct alloc *a = view->alloc;

	if (view->n > 0 || ctx->json)
		return;
	if (a->n == 0)
		fprintf(ctx->out, "no allocation was seen%s\n",
			alloc_view_is_exact(view) ? "" : ": a smaller --interval sees more");
	else if (ctx->n_args > 0)
		fprintf(ctx->out, "none of them is of such a class\n");
	else if (view->age > a->state.collections)
		fprintf(ctx->out, "nothing can be that old: the JVM told of %" PRIu32
				  " collection%s meanwhile; let it go on for longer with -d\n",
			a->state.collections, a->state.collections == 1 ? "" : "s");
	else
		fprintf(ctx->out, "nothing of it is alive\n");
}

static void print(const struct ctx *ctx, const struct alloc_view *view)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (is_stdout_taken(ctx->opts))
		return;
	if (ctx->json) {
		json_print_take(alloc_json(view), ctx->out);
		return;
	}
	alloc_text_add(&out, view);
	(void)fwrite(out.data, 1, out.len, ctx->out); /* main asks ferror() */
	say_nothing(ctx, view);
}

static void say_notes(const struct ctx *ctx, const struct alloc *a)
{
	bool told = false;

	for (size_t i = 0; i < a->n_notes; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		alloc_text_note(&text, &a->notes[i]);
		cmd_note(ctx->cmd, "%s", buf_str(&text));
		told |= a->notes[i].note == WIRE_ALLOC_FULL;
	}
	if (a->state.dropped > 0 && !told) {
		const struct alloc_note full = { WIRE_ALLOC_FULL, (char[]){ "" },
						 a->state.dropped };
		_cleanup_buf_ struct buf text = BUF_INIT;

		alloc_text_note(&text, &full);
		cmd_note(ctx->cmd, "%s", buf_str(&text));
	}
	if (a->flags & WIRE_ALLOC_LIVE)
		steps_add(ctx->steps, "the JVM stood still for %.1f ms for what is alive",
			  (double)a->live_ns / 1e6);
}

/* What is shown, but not all that was asked for. */
static int judge(const struct ctx *ctx, const struct alloc *a, struct err *err)
{
	if (a->code != 0)
		return err_set(err, EXIT_PARTIAL,
			       "the JVM did not take all classes back (%s): hooks are left in "
			       "them, which do nothing any more", redefinition_error(a->code));
	if (a->n == 0 && a->state.dropped > 0)
		return err_set(err, EXIT_PARTIAL, "there was no room for anything: --memory gives "
						  "more");
	if (alloc_is_live(ctx->opts) && !(a->flags & WIRE_ALLOC_LIVE))
		return err_set(err, EXIT_PARTIAL, "what of them is alive is not known");
	return 0;
}

int alloc_show(const struct ctx *ctx, struct alloc *a, struct stackfiles *files, struct err *err)
{
	const struct alloc_opts *opts = ctx->opts;
	enum alloc_order order = order_of(opts, a);
	_cleanup_free_ uint32_t *sites = NULL;
	struct alloc_view view = {
		.alloc = a,
		.order = order,
		.frames = ctx->steps ? 0 : FRAMES_SHOWN,
		.age = opts->age,
		.pid = ctx->jvm ? ctx->jvm->pid : 0,
		.file = ctx->file,
	};
	size_t n;

	alloc_merge(a);
	alloc_sort(a, order);
	sites = choose(ctx, a, order, &n);
	view.sites = sites;
	view.n = n < most_rows(ctx) ? n : most_rows(ctx);
	view.n_hidden = n - view.n;
	view.total = alloc_total(a);
	print(ctx, &view);
	say_notes(ctx, a);
	if (write_files(ctx, &view, files, err) < 0)
		return -1;
	return judge(ctx, a, err);
}
