/* alloc: prints a profile as a table or JSON, and writes the files with stacks. */
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "cmd/alloc/alloc.h"
#include "model/class/type_name.h"
#include "model/redefine/redefinition.h"
#include "render/limit.h"
#include "render/profile/alloc_view.h"

#define FRAMES_SHOWN 10 /* frames of a stack that the table shows; --verbose and JSON show all */

static enum alloc_order order_of(const struct alloc_opts *opts, const struct alloc *a)
{
	if (opts->sort >= 0)
		return (enum alloc_order)opts->sort;
	return a->flags & WIRE_ALLOC_LIVE ? ALLOC_BY_LIVE_BYTES : ALLOC_BY_BYTES;
}

static bool is_chosen_class(const struct ctx *ctx, const struct alloc *a,
			    const struct alloc_site *site)
{
	for (int i = 0; i < ctx->n_args; i++) {
		if (type_name_matches(a->kinds[site->kind], ctx->args[i]))
			return true;
	}
	return ctx->n_args == 0;
}

static bool is_selected(const struct ctx *ctx, const struct alloc *a, const struct alloc_site *site,
			enum alloc_order order)
{
	return is_chosen_class(ctx, a, site) &&
	       (order < ALLOC_BY_LIVE_BYTES || site->live_objects > 0);
}

/*
 * Returns an array with the indexes of all selected sites, including those that -n hides, in the
 * order of the output.  Sets *n to their number.  The caller frees the array.
 */
static uint32_t *select_sites(const struct ctx *ctx, const struct alloc *a, enum alloc_order order,
			      size_t *n)
{
	uint32_t *sites = xcalloc(a->n + 1, sizeof(*sites));

	*n = 0;
	for (size_t i = 0; i < a->n; i++) {
		if (is_selected(ctx, a, &a->sites[i], order))
			sites[(*n)++] = (uint32_t)i;
	}
	return sites;
}

/*
 * Adds the stack of a site to the tree, with two values: the number and the bytes of the site's
 * objects, or of its live objects if `live` is true.
 */
static void add_stack(struct call_tree *tree, const struct alloc *a, const struct alloc_site *site,
		      bool live, bool by_count)
{
	uint64_t bytes = live ? site->live_bytes : site->bytes;
	uint64_t objects = live ? site->live_objects : site->objects;
	const uint64_t values[CALL_TREE_VALUES] = { by_count ? objects : bytes,
						    by_count ? bytes : objects };
	uint32_t max_frames = a->depth > 0 ? a->depth : WIRE_ALLOC_DEPTH;
	uint32_t node = call_tree_begin(tree, site->n_frames, max_frames);

	for (uint32_t k = site->n_frames; k-- > 0;)
		node = call_tree_child(tree, node, a->frames.texts[site->frames[k]]);
	node = call_tree_child(tree, node, a->kinds[site->kind]);
	call_tree_add(tree, node, values);
}

static void begin_tree(struct call_tree *tree, bool live, bool by_count)
{
	call_tree_init(tree, by_count ? "objects" : "bytes", by_count ? "bytes" : "objects");
	tree->ends_in_classes = true;
	tree->prefix = live ? "inuse_" : "alloc_";
}

/* Fills in a tree of all objects, and a tree of the live objects; pprof shows both. */
static void add_pprof_trees(struct call_tree trees[static PPROF_TREES], const struct ctx *ctx,
			    const struct alloc_view *view, bool by_count)
{
	for (int live = 0; live < PPROF_TREES; live++) {
		begin_tree(&trees[live], live, by_count);
		for (size_t i = 0; i < view->alloc->n; i++) {
			const struct alloc_site *site = &view->alloc->sites[i];

			if (is_chosen_class(ctx, view->alloc, site))
				add_stack(&trees[live], view->alloc, site, live, by_count);
		}
		call_tree_sum(&trees[live]);
	}
}

static void add_title(struct buf *out, const struct alloc_view *view, const struct ctx *ctx)
{
	const char *main = ctx->jvm ? jvm_simple_main(ctx->jvm) : NULL;

	buf_adds(out, view->order >= ALLOC_BY_LIVE_BYTES ? "Live " : "");
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
		       struct stack_files *files, struct err *err)
{
	bool by_count = view->order == ALLOC_BY_COUNT || view->order == ALLOC_BY_LIVE_COUNT;
	_cleanup_buf_ struct buf title = BUF_INIT, subtitle = BUF_INIT;
	bool live = view->order >= ALLOC_BY_LIVE_BYTES;
	struct call_tree tree, both[PPROF_TREES] = { { .n = 0 } };
	int rc;

	if (!stack_files_any(files))
		return 0;
	begin_tree(&tree, live, by_count);
	for (size_t i = 0; i < view->n + view->n_hidden; i++)
		add_stack(&tree, view->alloc, &view->alloc->sites[view->sites[i]], live, by_count);
	if (files->open[STACKFILE_PPROF] && view->alloc->flags & WIRE_ALLOC_LIVE) {
		add_pprof_trees(both, ctx, view, by_count);
		files->pprof.trees[0] = &both[0];
		files->pprof.trees[1] = &both[1];
	}
	add_title(&title, view, ctx);
	alloc_text_summary(&subtitle, view);
	rc = stack_files_write(files, ctx, &tree, buf_str(&title), buf_str(&subtitle), err);
	files->pprof = (struct pprof_profile){ .time_ns = 0 };
	call_tree_release(&tree);
	call_tree_release(&both[0]);
	call_tree_release(&both[1]);
	return rc;
}

static void print_no_sites(const struct ctx *ctx, const struct alloc_view *view)
{
	const struct alloc *a = view->alloc;

	if (view->n > 0 || ctx->json)
		return;
	if (a->n == 0 && alloc_view_is_exact(view))
		fprintf(ctx->out, "no allocation was seen\n");
	else if (a->n == 0)
		fprintf(ctx->out, "no thread allocated enough to be sampled: its first sample "
				  "comes after about 512 KiB, whatever --interval is; "
				  "--exact counts every object\n");
	else if (ctx->n_args > 0)
		fprintf(ctx->out, "no site matches the classes\n");
	else if (view->age > a->state.collections)
		fprintf(ctx->out, "nothing can be that old: the JVM reported %" PRIu32
				  " collection%s during the profile; use a longer -d\n",
			a->state.collections, a->state.collections == 1 ? "" : "s");
	else
		fprintf(ctx->out, "none of these objects is live\n");
}

static void print(const struct ctx *ctx, const struct alloc_view *view)
{
	const struct alloc_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (stack_files_take_stdout(opts->paths))
		return;
	if (ctx->json) {
		json_print_take(alloc_json(view), ctx->out);
		return;
	}
	alloc_text_add(&out, view);
	(void)fwrite(out.data, 1, out.len, ctx->out); /* main() checks ferror() */
	print_no_sites(ctx, view);
}

static void print_notes(const struct ctx *ctx, const struct alloc *a)
{
	bool full_reported = false;

	for (size_t i = 0; i < a->n_notes; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		alloc_text_note(&text, &a->notes[i]);
		cmd_print_notice(ctx->cmd, "%s", buf_str(&text));
		full_reported |= a->notes[i].note == WIRE_ALLOC_FULL;
	}
	if (a->state.dropped > 0 && !full_reported) {
		const struct alloc_note full = { WIRE_ALLOC_FULL, (char[]){ "" },
						 a->state.dropped };
		_cleanup_buf_ struct buf text = BUF_INIT;

		alloc_text_note(&text, &full);
		cmd_print_notice(ctx->cmd, "%s", buf_str(&text));
	}
	if (a->flags & WIRE_ALLOC_LIVE)
		verbose_step(ctx->steps, "the JVM was paused for %.1f ms to find live objects",
			     (double)a->live_ns / 1e6);
}

static int check_complete(const struct ctx *ctx, const struct alloc *a, struct err *err)
{
	if (a->code != 0)
		return err_set(err, EXIT_PARTIAL,
			       "the JVM did not restore all classes (%s): hooks remain in them, "
			       "but do nothing; a restart removes them",
			       redefinition_error(a->code));
	if (a->end == WIRE_ALLOCED_FORCED)
		return err_set(err, EXIT_PARTIAL,
			       "'jtool detach --force' has ended the profile; start it again");
	if (a->n == 0 && a->state.dropped > 0)
		return err_set(err, EXIT_PARTIAL,
			       "the agent had no space for any allocation site; raise --memory");
	if (alloc_is_live(ctx->opts) && !(a->flags & WIRE_ALLOC_LIVE))
		return err_set(err, EXIT_PARTIAL,
			       "cannot determine which objects are live, for the reason above: all "
			       "counted objects are shown; free memory in the JVM, or omit --live");
	return 0;
}

int alloc_show(const struct ctx *ctx, struct alloc *a, struct stack_files *files, struct err *err)
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
	sites = select_sites(ctx, a, order, &n);
	view.sites = sites;
	view.n = limit_rows(opts->limit, ctx->json, LIMIT_ROWS, n);
	view.n_hidden = n - view.n;
	view.total = alloc_total(a);
	print(ctx, &view);
	print_notes(ctx, a);
	if (write_files(ctx, &view, files, err) < 0)
		return -1;
	return check_complete(ctx, a, err);
}
