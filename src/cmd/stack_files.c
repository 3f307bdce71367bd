#include "cmd/stack_files.h"

#include <string.h>
#include <time.h>

#include "attach/jvm_build.h"
#include "fileio/io.h"
#include "model/profile/call_tree_diff.h"
#include "render/profile/collapsed.h"
#include "render/profile/flamegraph.h"
#include "render/units.h"

#define NS_PER_S INT64_C(1000000000)

static const char *const options[] = {
	[STACKFILE_COLLAPSED] = "--collapsed",
	[STACKFILE_FLAMEGRAPH] = "--flamegraph",
	[STACKFILE_PPROF] = "--pprof",
};

static int check_paths(const char *const paths[static STACKFILE_KINDS], struct err *err)
{
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		for (int k = i + 1; k < STACKFILE_KINDS; k++) {
			if (paths[i] && paths[k] && strcmp(paths[i], paths[k]) == 0)
				return err_set(err, EXIT_USAGE,
					       "%s and %s name the same file: give two files",
					       options[i], options[k]);
		}
	}
	return 0;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

bool stack_files_take_stdout(const char *const paths[static STACKFILE_KINDS])
{
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		if (is_stdout(paths[i]))
			return true;
	}
	return false;
}

int stack_files_check(const char *const paths[static STACKFILE_KINDS], bool json, struct err *err)
{
	const char *first = json ? "--json" : NULL;

	for (int i = 0; i < STACKFILE_KINDS; i++) {
		if (!is_stdout(paths[i]))
			continue;
		if (first)
			return err_set(err, EXIT_USAGE,
				       "only one of %s and %s can go to stdout: write the other "
				       "to a file", first, options[i]);
		first = options[i];
	}
	return 0;
}

int stack_files_open(struct stack_files *f, const char *const paths[static STACKFILE_KINDS],
		     bool force, struct err *err)
{
	if (check_paths(paths, err) < 0)
		return -1;
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		int flags = (force ? ATOMIC_FILE_REPLACE : ATOMIC_FILE_NEW) |
			    (i == STACKFILE_PPROF ? ATOMIC_FILE_BINARY : 0);

		if (!paths[i])
			continue;
		if (atomic_file_open(&f->files[i], paths[i], flags, 0666, err) < 0)
			return -1;
		f->open[i] = true;
	}
	return 0;
}

bool stack_files_any(const struct stack_files *f)
{
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		if (f->open[i])
			return true;
	}
	return false;
}

static int write_one(struct atomic_file *f, const struct ctx *ctx, const struct buf *text,
		     struct err *err)
{
	_cleanup_buf_ struct buf shown = BUF_INIT;
	bool named = f->out_fd < 0;
	uint64_t size;
	int rc = io_write_all(f->fd, buf_str(text), text->len, DEADLINE_NEVER);

	if (rc < 0)
		return atomic_file_failed(f, rc, err);
	if (atomic_file_commit(f, &size, err) < 0)
		return -1;
	units_bytes(&shown, (int64_t)size);
	if (named)
		cmd_print_notice(ctx->cmd, "wrote %s: %s", f->path, buf_str(&shown));
	return 0;
}

static void add_collapsed(struct buf *out, const struct call_tree *t, bool no_lines)
{
	struct call_tree methods;

	if (!no_lines) {
		collapsed_add(out, t, 0);
		return;
	}
	call_tree_drop_lines(t, &methods);
	collapsed_add(out, &methods, 0);
	call_tree_release(&methods);
}

static int add_flamegraph(struct buf *out, const struct call_tree *t,
			  const struct call_tree *before, const char *title, const char *subtitle,
			  struct err *err)
{
	struct call_tree diff;
	int rc;

	if (!before)
		return flamegraph_add(out, t, title, subtitle, err);
	call_tree_diff(t, before, &diff);
	rc = flamegraph_add(out, &diff, title, subtitle, err);
	call_tree_release(&diff);
	return rc;
}

static void add_pprof(struct buf *out, const struct ctx *ctx, const struct pprof_profile *given,
		      const struct call_tree *t)
{
	struct pprof_profile profile = *given;
	struct jvm_build build = { NULL, NULL };

	if (ctx->jvm)
		jvm_build_read(ctx->jvm, &build);
	profile.file = build.path;
	profile.build_id = build.id;
	if (!profile.trees[0])
		profile.trees[0] = t;
	profile.time_ns = (int64_t)time(NULL) * NS_PER_S;
	pprof_add(out, &profile);
	jvm_build_release(&build);
}

int stack_files_write(struct stack_files *f, const struct ctx *ctx, struct call_tree *t,
		      const char *title, const char *subtitle, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	call_tree_sum(t);
	if (t->full)
		cmd_print_notice(ctx->cmd, "too many different stacks: some are truncated and "
					   "end at a caller");
	if (f->open[STACKFILE_COLLAPSED]) {
		add_collapsed(&text, t, f->no_lines);
		if (write_one(&f->files[STACKFILE_COLLAPSED], ctx, &text, err) < 0)
			return -1;
	}
	if (f->open[STACKFILE_FLAMEGRAPH]) {
		buf_reset(&text);
		if (add_flamegraph(&text, t, f->before, title, subtitle, err) < 0 ||
		    write_one(&f->files[STACKFILE_FLAMEGRAPH], ctx, &text, err) < 0)
			return -1;
	}
	if (f->open[STACKFILE_PPROF]) {
		buf_reset(&text);
		add_pprof(&text, ctx, &f->pprof, t);
		return write_one(&f->files[STACKFILE_PPROF], ctx, &text, err);
	}
	return 0;
}

void stack_files_release(struct stack_files *f)
{
	for (int i = 0; i < STACKFILE_KINDS; i++) {
		if (f->open[i])
			atomic_file_release(&f->files[i]);
		f->open[i] = false;
	}
}
