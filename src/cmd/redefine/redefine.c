/* The command redefine: replaces the code of loaded classes until the user restores the classes. */
#include "cmd/redefine/redefine.h"

#include <string.h>

#include "cmd/attach_call.h"
#include "cmd/cost_note.h"
#include "cmd/redefine/patch_images.h"
#include "cmd/redefinition_jvm.h"
#include "cmd/skipped.h"
#include "discover/memory_check.h"
#include "render/table.h"
#include "session/loaded_agents.h"

struct redefine_opts {
	bool check;
	const char *loader;
};

#define AT(member) offsetof(struct redefine_opts, member)

static const struct opt redefine_rows[] = {
	{ 0, "check", OPT_FLAG, AT(check), NULL, "only check whether it is possible", NULL },
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	OPT_END,
};

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_RESULT, COLUMN_FILE, COLUMN_DIGEST, COLUMN_WHY };

static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", CELL_TEXT, false },
	[COLUMN_LOADER] = { "LOADER", "loader", CELL_TEXT, false },
	[COLUMN_RESULT] = { "RESULT", "result", CELL_TEXT, false },
	[COLUMN_FILE] = { "FILE", "file", CELL_TEXT, false },
	[COLUMN_DIGEST] = { "SHA256", "digest", CELL_TEXT, true },
	[COLUMN_WHY] = { "WHY", "why", CELL_TEXT, true },
};

static void print_cost(const struct ctx *ctx, const struct redefine_plan *plan,
		       const struct session *s)
{
	size_t n = plan->n_of[REDEFINE_FITS];
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!cost_note_is_due(ctx, s))
		return;
	cost_note_add(&text, &plan->jvm, n, plan->n_loaded, "restore");
	cmd_print_notice(ctx->cmd, "%zu %s: %s", n, n == 1 ? "class" : "classes", buf_str(&text));
}

/* Refuses a JVM on musl, because its linker cannot reopen the agent later to restore a patch. */
static int check_libc(const struct ctx *ctx, struct err *err)
{
	struct loaded_agents images = { 0 };
	int rc = patch_images_find(ctx, &images, err);

	if (rc == 0 && images.musl)
		rc = err_set(err, EXIT_ANSWER,
			     "JVM %d runs on musl (Alpine), whose linker cannot reopen a library "
			     "after its file was deleted: replaced classes could never be "
			     "restored; restart it with the new classes, or use an image with "
			     "glibc", (int)ctx->jvm->pid);
	loaded_agents_release(&images);
	return rc;
}

/*
 * Refuses classes that the agent of another build of jtool has patched, because each of the two
 * agents could remove the patch of the other agent.
 */
static int refuse_foreign(struct session *s, const struct patches *patches, void *arg,
			  struct err *err)
{
	const struct class_set *set = arg;

	(void)s;
	for (size_t i = 0; i < patches->n; i++) {
		const char *name = patches->rows[i].class;

		if (class_set_find(set, name))
			return err_set(err, EXIT_ANSWER,
				       "class %.300s is replaced by code of another version of "
				       "jtool: restore it first, with 'jtool restore'", name);
	}
	return 0;
}

static const char *result_word(enum redefine_result result, bool check)
{
	static const char *const words[] = {
		[REDEFINE_FITS] = "replaced",
		[REDEFINE_SAME] = "unchanged",
		[REDEFINE_REFUSED] = "refused",
		[REDEFINE_NOT_LOADED] = "not loaded",
	};

	return check && result == REDEFINE_FITS ? "possible" : words[result];
}

static void add_row(struct table *t, const struct class_origins *origins,
		    const struct redefine_item *item, bool check)
{
	table_row(t);
	table_text(t, COLUMN_CLASS, item->file->name);
	if (item->row)
		table_text(t, COLUMN_LOADER, class_origins_loader(origins, item->row->loader));
	table_text(t, COLUMN_RESULT, result_word(item->result, check));
	table_text(t, COLUMN_FILE, item->file->where);
	table_text(t, COLUMN_DIGEST, item->digest);
	if (item->why.len > 0)
		table_text(t, COLUMN_WHY, buf_str(&item->why));
}

/* Prints the table of classes.  Omits classes that are not loaded, which may be thousands. */
static void show(const struct ctx *ctx, const struct redefine_plan *plan,
		 const struct class_origins *origins, uint32_t n_others)
{
	const struct redefine_opts *opts = ctx->opts;
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < plan->n; i++) {
		if (ctx->json || plan->items[i].result != REDEFINE_NOT_LOADED)
			add_row(t, origins, &plan->items[i], opts->check);
	}
	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put(doc, "classes", table_json(t));
		json_put_unsigned(doc, "changed_by_others", n_others);
		json_print_take(doc, ctx->out);
	} else {
		table_print(t, ctx->out);
	}
	table_free(t);
}

static void report_not_loaded(const struct ctx *ctx, const struct redefine_plan *plan)
{
	struct skipped skipped = { 0 };

	for (size_t i = 0; i < plan->n; i++) {
		if (plan->items[i].result == REDEFINE_NOT_LOADED)
			skipped_add(&skipped, "not loaded", plan->items[i].file->name, NULL);
	}
	skipped_print(ctx, &skipped);
	skipped_release(&skipped);
}

static void print_lines(const struct ctx *ctx, const struct redefine_item *item,
			const struct buf *lines)
{
	size_t len;

	for (const char *line = buf_str(lines); *line; line += len + 1) {
		len = strcspn(line, "\n");
		cmd_print_notice(ctx->cmd, "%.300s: %.*s", item->file->name, (int)len, line);
	}
}

/*
 * Sets the error for classes that HotSpot would not accept.  If there is only one reason, the error
 * contains it; several reasons are printed as notices.
 */
static int refuse(const struct ctx *ctx, const struct redefine_plan *plan, struct err *err)
{
	const struct redefine_opts *opts = ctx->opts;
	size_t n = plan->n_of[REDEFINE_REFUSED];

	for (size_t i = 0; i < plan->n; i++) {
		const struct redefine_item *item = &plan->items[i];
		const char *line = buf_str(&item->why);
		size_t len = strcspn(line, "\n");

		if (n == 1 && item->result == REDEFINE_REFUSED && len + 1 == item->why.len)
			return err_set(err, EXIT_ANSWER, "%.300s: %.*s", item->file->name,
				       (int)len, line);
		print_lines(ctx, item, &item->why);
	}
	return err_set(err, EXIT_ANSWER,
		       "%zu of %zu classes cannot be replaced, for the reasons above%s", n, plan->n,
		       opts->check ? "" : "; nothing was changed");
}

static int apply_plan(struct ctx *ctx, struct redefine_plan *plan, struct class_index *index,
		      struct err *err)
{
	const struct redefine_opts *opts = ctx->opts;
	uint32_t n_others = 0;

	report_not_loaded(ctx, plan);
	if (plan->n_of[REDEFINE_REFUSED] > 0) {
		if (opts->check)
			show(ctx, plan, &index->classes.origins, 0);
		return refuse(ctx, plan, err);
	}
	for (size_t i = 0; i < plan->n; i++)
		print_lines(ctx, &plan->items[i], &plan->items[i].notes);
	if (!opts->check && plan->n_of[REDEFINE_FITS] > 0) {
		if (memory_check(ctx->jvm, MEMORY_CHANGE, NULL, err) < 0)
			return -1;
		print_cost(ctx, plan, index->session);
		if (redefine_install(plan, index, &n_others, err) < 0)
			return -1;
	}
	show(ctx, plan, &index->classes.origins, n_others);
	if (n_others > 0)
		cmd_print_notice(
			ctx->cmd,
			"other agents in the JVM change the new code: see 'jtool dump --diff'");
	return 0;
}

static int run_files(struct ctx *ctx, const struct class_set *set, struct redefine_plan *plan,
		     struct err *err)
{
	const struct redefine_opts *opts = ctx->opts;
	struct class_index index;
	int rc;

	if (redefinition_jvm_ask(ctx, &plan->jvm, err) < 0 ||
	    class_index_open(ctx, 0, &index, err) < 0)
		return -1;
	plan->n_loaded = index.classes.n;
	rc = redefine_match(ctx, plan, set, &index, opts->loader, err);
	if (rc == 0)
		rc = redefine_compare(plan, &index, err);
	if (rc == 0)
		rc = apply_plan(ctx, plan, &index, err);
	if (class_index_close(&index, err) < 0)
		rc = -1;
	return rc;
}

/*
 * Runs the command.  Reads the class files first, so that an error in them has no effect on the
 * JVM.  Asks the JVM for its release before that if the release is otherwise unknown, because it
 * selects the classes of a multi-release jar.
 */
static int run(struct ctx *ctx, struct err *err)
{
	const struct redefine_opts *opts = ctx->opts;
	struct redefine_plan plan = { 0 };
	struct class_set set = { 0 };
	unsigned release = attach_call_release(ctx);
	int rc = 0;

	for (int i = 0; i < ctx->n_args && rc == 0; i++)
		rc = class_set_add(&set, ctx->args[i], release, err);
	if (rc == 0 && !opts->check)
		rc = check_libc(ctx, err);
	if (rc == 0)
		rc = patch_images_each(ctx, PATCHED_BY_OTHERS, refuse_foreign, &set, err);
	if (rc == 0)
		rc = run_files(ctx, &set, &plan, err);
	redefine_plan_release(&plan);
	class_set_release(&set);
	return rc;
}

const struct cmd cmd_redefine = {
	.name = "redefine",
	.aliases = "retransform hotswap",
	.synopsis = "TARGET FILE.class|DIR|JAR...",
	.summary = "replace the code of loaded classes: a hot patch, until restore",
	.examples = (const struct example[]){
		{ "redefine 4711 Cart.class --check", "says whether it would work" },
		{ "redefine 4711 Cart.class", "replaces the class" },
		{ "redefine 4711 classes/", "replaces what changed in a directory" },
		{ NULL, NULL },
	},
	.details =
		"A FILE.class replaces its class.  Of a DIR or JAR, classes are replaced that are\n"
		"loaded and whose code differs.  Files are on your side, also if the JVM runs in\n"
		"a container.  The new code stays until 'jtool restore'.  Changes by other agents\n"
		"are preserved.  Static fields keep their values.  The compiler copies a static\n"
		"final constant into the classes that use it: replace those classes, too.\n"
		"\n"
		"The code that runs: jtool class TARGET CLASS -b.  Whether the new code is\n"
		"called, and what it returns: jtool trace TARGET CLASS.METHOD.\n",
	.need = NEED_JVM,
	.parses = true,
	.min_args = 1,
	.max_args = -1,
	.free_words = -1,
	.opts = redefine_rows,
	.opts_size = sizeof(struct redefine_opts),
	.run = run,
};
