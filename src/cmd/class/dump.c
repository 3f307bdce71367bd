/*
 * The command dump: writes the class files of loaded classes, as the JVM runs them, into package
 * folders.
 */
#include "cmd/class/dump_diff.h"

#include <errno.h>
#include <string.h>

#include "cmd/skipped.h"
#include "fileio/safe_dir.h"
#include "model/class/dump_paths.h"

struct dump_opts {
	const char *dir, *loader, *diff;
};

#define AT(member) offsetof(struct dump_opts, member)

static const struct opt dump_rows[] = {
	{ 'd', NULL, OPT_TEXT, AT(dir), "DIR", "write below DIR (default .)", NULL },
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	{ 0, "diff", OPT_TEXT, AT(diff), "FILE",
	  "only compare with the class files in FILE, a DIR or a JAR", NULL },
	OPT_END,
};

struct dump {
	const struct ctx *ctx;
	struct class_index *index;
	struct safe_dir *dir;
	struct dump_path *names; /* for each class, the path of the file to write */
	struct json *files;     /* JSON array with one element for each file; NULL without --json */
	/*
	 * `skipped`: classes whose file was not written; `other_code`: classes whose file does not
	 * have the code that the JVM runs
	 */
	struct skipped skipped, other_code;
	bool folds_case; /* the file system of `dir` does not distinguish "A" from "a" */
	bool any_hidden; /* at least one class was skipped because it is a hidden class */
};

static const char *loader_of(const struct dump *d, const struct class_row *row)
{
	return class_origins_loader(&d->index->classes.origins, row->loader);
}

static void show_file(struct dump *d, const struct class_row *row, const char *name, size_t bytes,
		      size_t n_other)
{
	_cleanup_free_ char *path = safe_dir_path(d->dir, name);
	struct json *one;

	if (!d->files) {
		fprintf(d->ctx->out, "%s\n", path);
		return;
	}
	one = json_object();
	json_put_text(one, "class", row->name);
	json_put_text(one, "loader", loader_of(d, row));
	json_put_text(one, "path", path);
	json_put_unsigned(one, "bytes", bytes);
	json_put_unsigned(one, "other_code", n_other);
	json_put(d->files, NULL, one);
}

static int skip(struct dump *d, const struct class_row *row, const char *why)
{
	skipped_add(&d->skipped, why, row->name, loader_of(d, row));
	return 0;
}

static int write_file(struct dump *d, const struct class_row *row,
		      const struct class_capture *captured, struct err *err)
{
	const struct dump_path *to = &d->names[row - d->index->classes.rows];
	size_t n_other;
	const char *why;
	int rc;

	if (!to->name || to->taken)
		return skip(d, row, "another class has the same path");
	if (to->twin && d->folds_case)
		return skip(d, row, "the path differs from another only in case, which the file "
				    "system ignores");
	rc = safe_dir_write(d->dir, to->name, captured->file.data, captured->file.len, &why, err);
	if (rc != 0)
		return rc > 0 ? skip(d, row, why) : -1;
	n_other = class_capture_differences(captured, NULL);
	if (n_other > 0)
		skipped_add(&d->other_code, "class -b shows what runs", row->name, NULL);
	show_file(d, row, to->name, captured->file.len, n_other);
	return 0;
}

static int take(const struct class_row *row, struct class_capture *captured, void *arg,
		struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct dump *d = arg;
	const char *why = class_index_why_no_file(row, captured, &text);

	d->any_hidden |= captured->outcome == WIRE_CAPTURED_HIDDEN;
	return why ? skip(d, row, why) : write_file(d, row, captured, err);
}

static bool has_twins(const struct dump *d, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (d->names[i].twin)
			return true;
	}
	return false;
}

static void show_json(struct dump *d)
{
	struct json *doc = json_object();

	json_put_number(doc, "pid", d->ctx->jvm->pid);
	json_put(doc, "files", TAKE_PTR(d->files));
	json_put(doc, "skipped", skipped_json(&d->skipped));
	json_print_take(doc, d->ctx->out);
}

/*
 * Reports the classes for which no file was written, and the classes whose file does not have the
 * code that the JVM runs.  Call it after all files were written.
 */
static int conclude(struct dump *d, size_t n, struct err *err)
{
	size_t n_skipped = d->skipped.n_items, n_other = d->other_code.n_items;
	const char *hint =
		d->any_hidden ? "; 'jtool class -b' shows the code of hidden classes" : "";

	if (d->files)
		show_json(d);
	skipped_print(d->ctx, &d->skipped);
	skipped_print(d->ctx, &d->other_code);
	if (n_skipped > 0)
		return err_set(err, EXIT_PARTIAL,
			       "%zu of %zu classes were not dumped, for the reasons above%s",
			       n_skipped, n, hint);
	if (n_other > 0)
		return err_set(err, EXIT_PARTIAL,
			       "the JVM runs other code of %zu classes than was dumped; 'jtool "
			       "class -b' shows it", n_other);
	return 0;
}

static int capture_all(struct dump *d, struct err *err)
{
	const struct classes *c = &d->index->classes;

	if (has_twins(d, c->n))
		d->folds_case = safe_dir_folds_case(d->dir);
	if (class_index_capture(d->index, c->rows, c->n, 0, take, d, err) < 0)
		return -1;
	verbose_step(d->ctx->steps, "the agent took %.1f us per class",
		     (double)d->index->capture_ns / 1e3 / (double)c->n);
	return conclude(d, c->n, err);
}

static int dump_files(const struct ctx *ctx, struct class_index *index, struct safe_dir *dir,
		      struct err *err)
{
	struct dump d = {
		.ctx = ctx,
		.index = index,
		.dir = dir,
		.names = dump_paths_new(&index->classes),
		.files = ctx->json ? json_array() : NULL,
		.skipped.what = "not dumped",
		.other_code.what = "dumped, with other code in memory",
	};
	int rc = capture_all(&d, err);

	skipped_release(&d.skipped);
	skipped_release(&d.other_code);
	json_free(d.files);
	dump_paths_free(d.names, index->classes.n);
	return rc;
}

/*
 * Writes the class files of the selected classes into `dir`.  If `dir` is NULL (--diff), writes
 * nothing, and compares the selected classes with the files that --diff names.
 */
static int dump_selected(const struct ctx *ctx, struct safe_dir *dir, struct err *err)
{
	const struct dump_opts *opts = ctx->opts;
	struct class_index index;
	int rc;

	if (class_index_open(ctx, 0, &index, err) < 0)
		return -1;
	rc = class_index_select_args(ctx, &index, opts->loader, err);
	if (rc == 0)
		rc = dir ? dump_files(ctx, &index, dir, err) :
			   dump_diff(ctx, &index, opts->diff, err);
	return class_index_close(&index, err) < 0 ? -1 : rc;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct dump_opts *opts = ctx->opts;

	if (!opts->diff)
		return 0;
	if (opts->dir)
		return err_set(err, EXIT_USAGE, "--diff cannot be combined with -d: --diff writes "
						"no files");
	if (access(opts->diff, R_OK) < 0)
		return err_set(err, EXIT_USAGE, "cannot read '%s': %s", opts->diff,
			       strerror(errno));
	return 0;
}

/*
 * Runs the command.  Opens the output directory first, so that a wrong path has no effect on the
 * JVM.
 */
static int run(struct ctx *ctx, struct err *err)
{
	const struct dump_opts *opts = ctx->opts;
	struct safe_dir dir;
	int rc;

	if (opts->diff)
		return dump_selected(ctx, NULL, err);
	if (safe_dir_open(&dir, opts->dir ? opts->dir : ".", err) < 0)
		return -1;
	rc = dump_selected(ctx, &dir, err);
	safe_dir_close(&dir);
	return rc;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.aliases = "classdump",
	.synopsis = "TARGET CLASS|GLOB...",
	.summary = "write the class files that the JVM runs",
	.examples = (const struct example[]){
		{ "dump 4711 com.acme.Cart -d out", "writes out/com/acme/Cart.class" },
		{ "dump 4711 'com.acme.*' -d out", "all classes that match" },
		{ NULL, NULL },
	},
	.details =
		"Writes each class into its package's folder below DIR, and prints the path.  If\n"
		"several loaders have a class of that name, each loader gets a folder.  The\n"
		"classes are not changed.  Arrays and hidden classes have no class file: they are\n"
		"reported on stderr, and the exit code is 7.\n"
		"With --diff, nothing is written: dump lists the methods whose code in memory\n"
		"differs from the class file of the same name.\n",
	.need = NEED_JVM,
	.parses = true,
	.min_args = 1,
	.max_args = -1,
	.free_words = -1,
	.opts = dump_rows,
	.opts_size = sizeof(struct dump_opts),
	.check = check,
	.run = run,
};
