/*
 * redefine: put other code in the place of loaded classes, until restore.
 */
#include "cmd/redefine.h"

#include <string.h>

#include "cmd/answer.h"
#include "cmd/archiving.h"
#include "cmd/cost.h"
#include "cmd/patched.h"
#include "model/vmflags.h"
#include "render/table.h"
#include "session/image.h"

#define FLAGS_MAX (64u * 1024 * 1024)
#define NAMES_SHOWN 5

struct redefine_opts {
	bool check;
	const char *loader;
};

#define AT(member) offsetof(struct redefine_opts, member)

static const struct opt redefine_rows[] = {
	{ 0, "check", OPT_FLAG, AT(check), NULL, "only say whether it can be done", NULL },
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	OPT_END,
};

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_RESULT, COLUMN_FILE, COLUMN_DIGEST, COLUMN_WHY };

static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", COL_TEXT, false, NULL },
	[COLUMN_LOADER] = { "LOADER", "loader", COL_TEXT, false, NULL },
	[COLUMN_RESULT] = { "RESULT", "result", COL_TEXT, false, NULL },
	[COLUMN_FILE] = { "FILE", "file", COL_TEXT, false, NULL },
	[COLUMN_DIGEST] = { "SHA256", "digest", COL_TEXT, true, NULL },
	[COLUMN_WHY] = { "WHY", "why", COL_TEXT, true, NULL },
};

/* What it takes, before it is done. */
static void say_cost(const struct ctx *ctx, const struct redefine_plan *plan)
{
	size_t n = plan->n_of[REDEFINE_FITS];
	_cleanup_buf_ struct buf text = BUF_INIT;

	cost_add(&text, &plan->jvm, n, plan->n_loaded, "restore");
	cmd_note(ctx->cmd, "%zu %s: %s", n, n == 1 ? "class" : "classes", buf_str(&text));
}

/* Flags that decide what the JVM lets be changed.  JDK 8 has none that matters. */
static int ask_flags(const struct ctx *ctx, struct redefinition_jvm *jvm, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct vmflags flags = { 0 };
	const struct vmflag *flag;
	int rc = 0;

	*jvm = (struct redefinition_jvm){ .release = (unsigned)jvm_feature(ctx->jvm) };
	jvm->may_preview = ctx->jvm->flags && strstr(ctx->jvm->flags, "--enable-preview");
	if (answer_jcmd(ctx, "VM.flags -all", FLAGS_MAX, &text, err) < 0)
		return -1;
	if (vmflags_parse(&flags, buf_str(&text), text.len) == 0) {
		flag = vmflags_find(&flags, "AllowRedefinitionToAddDeleteMethods");
		jvm->may_add_delete = flag && strcmp(flag->value, "true") == 0;
		flag = vmflags_find(&flags, "BytecodeVerificationRemote");
		jvm->unverified = flag && strcmp(flag->value, "false") == 0;
		rc = archiving_refuse(ctx, &flags, err);
	}
	vmflags_release(&flags);
	return rc;
}

/* What stays in the JVM must be found again. */
static int check_libc(const struct ctx *ctx, struct err *err)
{
	struct images images = { 0 };
	struct ns ns;
	int rc;

	if (ns_open(ctx->jvm, &ns, err) < 0)
		return -1;
	rc = images_find(&ns, &images, err);
	if (rc == 0 && images.musl)
		rc = err_set(err, EXIT_ANSWER,
			     "JVM %d runs on musl, whose linker does not find a library again when "
			     "its file is gone: what is replaced could never be put back",
			     (int)ctx->jvm->pid);
	images_release(&images);
	ns_close(&ns);
	return rc;
}

/* Two agents would each take the other's change for what came with the class. */
static int refuse_foreign(struct session *s, const struct patches *patches, void *arg,
			  struct err *err)
{
	const struct classset *set = arg;

	(void)s;
	for (size_t i = 0; i < patches->n; i++) {
		const char *name = patches->rows[i].class;

		if (classset_find(set, name))
			return err_set(err, EXIT_ANSWER,
				       "%.300s is replaced by another version of jtool: 'jtool "
				       "restore' it first",
				       name);
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

static void add_row(struct table *t, const struct places *places,
		    const struct redefine_item *item, bool check)
{
	table_row(t);
	table_text(t, COLUMN_CLASS, item->file->name);
	if (item->row)
		table_text(t, COLUMN_LOADER, places_loader(places, item->row->loader));
	table_text(t, COLUMN_RESULT, result_word(item->result, check));
	table_text(t, COLUMN_FILE, item->file->where);
	table_text(t, COLUMN_DIGEST, item->digest);
	if (item->why.len > 0)
		table_text(t, COLUMN_WHY, buf_str(&item->why));
}

/* Classes that are not loaded are left out of the table: there may be thousands. */
static void show(const struct ctx *ctx, const struct redefine_plan *plan,
		 const struct places *places, uint32_t n_others)
{
	const struct redefine_opts *opts = ctx->opts;
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < plan->n; i++) {
		if (ctx->json || plan->items[i].result != REDEFINE_NOT_LOADED)
			add_row(t, places, &plan->items[i], opts->check);
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

static void say_not_loaded(const struct ctx *ctx, const struct redefine_plan *plan)
{
	size_t n = plan->n_of[REDEFINE_NOT_LOADED], shown = 0;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (n == 0)
		return;
	buf_addf(&text, "left out, not loaded: ");
	for (size_t i = 0; i < plan->n && shown < NAMES_SHOWN; i++) {
		if (plan->items[i].result != REDEFINE_NOT_LOADED)
			continue;
		buf_addf(&text, "%s%.200s", shown > 0 ? ", " : "", plan->items[i].file->name);
		shown++;
	}
	if (n > shown)
		buf_addf(&text, " and %zu more", n - shown);
	cmd_note(ctx->cmd, "%s", buf_str(&text));
}

/* Each line, with the class in front. */
static void say_lines(const struct ctx *ctx, const struct redefine_item *item,
		      const struct buf *lines)
{
	size_t len;

	for (const char *line = buf_str(lines); *line; line += len + 1) {
		len = strcspn(line, "\n");
		cmd_note(ctx->cmd, "%.300s: %.*s", item->file->name, (int)len, line);
	}
}

/* Every line of every class; one alone is the error itself. */
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
		say_lines(ctx, item, &item->why);
	}
	return err_set(err, EXIT_ANSWER, "%zu of %zu classes cannot be replaced so%s", n, plan->n,
		       opts->check ? "" : "; nothing was changed");
}

static int do_it(struct ctx *ctx, struct redefine_plan *plan, struct roster *roster,
		 struct err *err)
{
	const struct redefine_opts *opts = ctx->opts;
	uint32_t n_others = 0;

	say_not_loaded(ctx, plan);
	if (plan->n_of[REDEFINE_REFUSED] > 0) {
		if (opts->check)
			show(ctx, plan, &roster->classes.places, 0);
		return refuse(ctx, plan, err);
	}
	for (size_t i = 0; i < plan->n; i++)
		say_lines(ctx, &plan->items[i], &plan->items[i].notes);
	if (!opts->check && plan->n_of[REDEFINE_FITS] > 0) {
		say_cost(ctx, plan);
		if (redefine_install(plan, roster, &n_others, err) < 0)
			return -1;
	}
	show(ctx, plan, &roster->classes.places, n_others);
	if (n_others > 0)
		cmd_note(ctx->cmd,
			 "other agents in the JVM change it further: see 'jtool dump --diff'");
	return 0;
}

static int run_on(struct ctx *ctx, const struct classset *set, struct redefine_plan *plan,
		  struct err *err)
{
	const struct redefine_opts *opts = ctx->opts;
	struct roster roster;
	int rc;

	if (ask_flags(ctx, &plan->jvm, err) < 0 || roster_open(ctx, 0, &roster, err) < 0)
		return -1;
	plan->n_loaded = roster.classes.n;
	rc = redefine_match(ctx, plan, set, &roster, opts->loader, err);
	if (rc == 0)
		rc = redefine_compare(plan, &roster, err);
	if (rc == 0)
		rc = do_it(ctx, plan, &roster, err);
	if (roster_close(&roster, err) < 0)
		rc = -1;
	return rc;
}

/* The files are read before the JVM is disturbed. */
static int run(struct ctx *ctx, struct err *err)
{
	const struct redefine_opts *opts = ctx->opts;
	struct redefine_plan plan = { 0 };
	struct classset set = { 0 };
	int rc = 0;

	for (int i = 0; i < ctx->n_args && rc == 0; i++)
		rc = classset_add(&set, ctx->args[i], (unsigned)jvm_feature(ctx->jvm), err);
	if (rc == 0 && !opts->check)
		rc = check_libc(ctx, err);
	if (rc == 0)
		rc = patched_each(ctx, PATCHED_BY_OTHERS, refuse_foreign, &set, err);
	if (rc == 0)
		rc = run_on(ctx, &set, &plan, err);
	redefine_plan_release(&plan);
	classset_release(&set);
	return rc;
}

const struct cmd cmd_redefine = {
	.name = "redefine",
	.aliases = "retransform hotswap",
	.synopsis = "TARGET FILE.class|DIR|JAR...",
	.summary = "replace loaded classes by other class files, all in one go or none",
	.details =
		"Of a DIR or JAR those classes are replaced that are loaded and whose code\n"
		"differs; a FILE.class always is.  What other agents make of the classes stays.\n"
		"Outlives jtool, until 'jtool restore'.\n",
	.need = NEED_JVM,
	.min_args = 1,
	.max_args = -1,
	.free_words = -1,
	.opts = redefine_rows,
	.opts_size = sizeof(struct redefine_opts),
	.run = run,
};
