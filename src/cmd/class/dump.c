/*
 * dump: the class files that stand for what the JVM runs, in package folders.
 *
 * The JVM is asked for some at a time, and they are here before the first is written: a slow
 * disk keeps nobody waiting but us.
 */
#include "cmd/dump.h"

#include <errno.h>
#include <string.h>

#include "base/outdir.h"
#include "cmd/remarks.h"
#include "model/dumpname.h"

struct dump_opts {
	const char *dir, *loader, *diff;
};

#define AT(member) offsetof(struct dump_opts, member)

static const struct opt dump_rows[] = {
	{ 'd', NULL, OPT_TEXT, AT(dir), "DIR", "where the packages go; default: here", NULL },
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	{ 0, "diff", OPT_TEXT, AT(diff), "FILE", "compare with these class files", NULL },
	OPT_END,
};

struct dump {
	const struct ctx *ctx;
	struct roster *roster;
	struct outdir *dir;
	struct dumpname *names; /* one for each row */
	struct json *files;     /* with --json */
	struct remarks skipped, other_code;
	bool folds_case;
};

static void show_file(struct dump *d, const struct class_row *row, const char *name, size_t bytes,
		      size_t n_other)
{
	_cleanup_free_ char *path = outdir_path(d->dir, name);
	struct json *one;

	if (!d->files) {
		fprintf(d->ctx->out, "%s\n", path);
		return;
	}
	one = json_object();
	json_put_text(one, "class", row->name);
	json_put_text(one, "loader", places_loader(&d->roster->classes.places, row->loader));
	json_put_text(one, "path", path);
	json_put_unsigned(one, "bytes", bytes);
	json_put_unsigned(one, "other_code", n_other);
	json_put(d->files, NULL, one);
}

static int skip(struct dump *d, const struct class_row *row, const char *why)
{
	remarks_add(&d->skipped, why, row);
	return 0;
}

static int write_file(struct dump *d, const struct class_row *row, const struct captured *captured,
		      struct err *err)
{
	const struct dumpname *to = &d->names[row - d->roster->classes.rows];
	size_t n_other;
	const char *why;
	int rc;

	if (!to->name || to->taken)
		return skip(d, row, "another class has the same path");
	if (to->twin && d->folds_case)
		return skip(d, row, "another class's path differs in case only, which the file "
				    "system does not see");
	rc = outdir_write(d->dir, to->name, captured->file.data, captured->file.len, &why, err);
	if (rc != 0)
		return rc > 0 ? skip(d, row, why) : -1;
	n_other = captured_differences(captured, NULL);
	if (n_other > 0)
		remarks_add(&d->other_code, "class -b shows what runs", row);
	show_file(d, row, to->name, captured->file.len, n_other);
	return 0;
}

static int take(const struct class_row *row, struct captured *captured, void *arg, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct dump *d = arg;
	const char *why = roster_why_no_file(row, captured, &text);

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
	const struct places *places = &d->roster->classes.places;
	struct json *doc = json_object();

	json_put_number(doc, "pid", d->ctx->jvm->pid);
	json_put(doc, "files", TAKE_PTR(d->files));
	json_put(doc, "skipped", remarks_json(&d->skipped, places));
	json_print_take(doc, d->ctx->out);
}

/* Whatever is not in the files is an error, after the rest was written. */
static int conclude(struct dump *d, size_t n, struct err *err)
{
	size_t n_skipped = d->skipped.n_rows, n_other = d->other_code.n_rows;

	if (d->files)
		show_json(d);
	remarks_tell(d->ctx, &d->skipped);
	remarks_tell(d->ctx, &d->other_code);
	if (n_skipped > 0)
		return err_set(err, EXIT_PARTIAL,
			       "%zu of %zu classes were not dumped; 'jtool class -b' shows the "
			       "code of hidden ones",
			       n_skipped, n);
	if (n_other > 0)
		return err_set(err, EXIT_PARTIAL, "the JVM runs other code of %zu classes",
			       n_other);
	return 0;
}

static int capture_all(struct dump *d, struct err *err)
{
	const struct classes *c = &d->roster->classes;

	if (has_twins(d, c->n))
		d->folds_case = outdir_folds_case(d->dir);
	if (roster_capture(d->roster, c->rows, c->n, 0, take, d, err) < 0)
		return -1;
	steps_add(d->ctx->steps, "the agent took %.1f us a class",
		  (double)d->roster->capture_ns / 1e3 / (double)c->n);
	return conclude(d, c->n, err);
}

static int dump_files(const struct ctx *ctx, struct roster *roster, struct outdir *dir,
		      struct err *err)
{
	struct dump d = {
		.ctx = ctx,
		.roster = roster,
		.dir = dir,
		.names = dumpname_all(&roster->classes),
		.files = ctx->json ? json_array() : NULL,
		.skipped.what = "not dumped",
		.other_code.what = "dumped, with other code in memory",
	};
	int rc = capture_all(&d, err);

	remarks_release(&d.skipped);
	remarks_release(&d.other_code);
	json_free(d.files);
	dumpname_free(d.names, roster->classes.n);
	return rc;
}

/* dir NULL: --diff */
static int dump_selected(const struct ctx *ctx, struct outdir *dir, struct err *err)
{
	const struct dump_opts *opts = ctx->opts;
	struct roster roster;
	int rc;

	if (roster_open(ctx, 0, &roster, err) < 0)
		return -1;
	rc = roster_select(ctx, &roster, ctx->args, (size_t)ctx->n_args, opts->loader, err);
	if (rc == 0)
		rc = dir ? dump_files(ctx, &roster, dir, err) :
			   dump_diff(ctx, &roster, opts->diff, err);
	return roster_close(&roster, err) < 0 ? -1 : rc;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct dump_opts *opts = ctx->opts;

	if (!opts->diff)
		return 0;
	if (opts->dir)
		return err_set(err, EXIT_USAGE, "--diff writes no files: leave out -d");
	if (access(opts->diff, R_OK) < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", opts->diff,
			       strerror(errno));
	return 0;
}

/* A directory that cannot be written to is told of before the JVM is disturbed. */
static int run(struct ctx *ctx, struct err *err)
{
	const struct dump_opts *opts = ctx->opts;
	struct outdir dir;
	int rc;

	if (opts->diff)
		return dump_selected(ctx, NULL, err);
	if (outdir_open(&dir, opts->dir ? opts->dir : ".", err) < 0)
		return -1;
	rc = dump_selected(ctx, &dir, err);
	outdir_close(&dir);
	return rc;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.synopsis = "TARGET CLASS|GLOB...",
	.summary = "the class files of what the JVM runs",
	.details =
		"Each file goes into its package's folder below DIR, and its path is printed.\n"
		"Where several loaders have a class of that name, each goes into a folder of its\n"
		"loader.  Nothing is done to the classes.  Arrays and hidden classes cannot be\n"
		"had: they are named on stderr, and the exit code is 7.  In a GLOB, * stands for\n"
		"any characters and ? for one.\n"
		"With --diff nothing is written: the methods are listed whose code in memory is\n"
		"not the code of the class file of that name.\n",
	.need = NEED_JVM,
	.min_args = 1,
	.max_args = -1,
	.free_words = -1,
	.opts = dump_rows,
	.opts_size = sizeof(struct dump_opts),
	.check = check,
	.run = run,
};
