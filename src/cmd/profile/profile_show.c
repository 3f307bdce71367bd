/* The command profile: shows a profile as a table or JSON, and writes its stacks to files. */
#include <string.h>

#include "cmd/profile/profile.h"
#include "render/limit.h"
#include "render/profile/profile_view.h"
#include "render/units.h"

static const char *const titles[N_PROFILE_KINDS] = {
	[PROFILE_CPU] = "CPU", [PROFILE_WALL] = "Wall clock", [PROFILE_LOCK] = "Locks",
	[PROFILE_ALLOC] = "Allocations", [PROFILE_IO] = "I/O", [PROFILE_EXCEPTIONS] = "Exceptions",
};

static void add_title(struct buf *out, const struct ctx *ctx, const struct profile *p)
{
	const char *main;

	if (ctx->file) {
		buf_addf(out, "%s of %s", titles[p->kind], ctx->file);
		return;
	}
	main = jvm_simple_main(ctx->jvm);
	buf_addf(out, "%s of JVM %d%s%s", titles[p->kind], (int)ctx->jvm->pid, main ? ", " : "",
		 main ? main : "");
}

static void print(const struct ctx *ctx, const struct profile_view *view)
{
	const struct profile_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (stack_files_take_stdout(opts->paths))
		return;
	if (ctx->json) {
		json_print_take(profile_json(view), ctx->out);
		return;
	}
	profile_text_add(&out, view);
	(void)fwrite(out.data, 1, out.len, ctx->out); /* main() checks ferror() */
}

/* Prints a notice that explains why a recording may have no event of the wanted kind. */
static void print_nothing(const struct ctx *ctx, const struct profile *p)
{
	static const char file_has[] = "; a recording with the settings 'default' has waits from "
				       "20 ms on, one with 'profile' from 10 ms on";
	bool waits = p->kind == PROFILE_LOCK || p->kind == PROFILE_IO;
	_cleanup_buf_ struct buf shortest = BUF_INIT;

	if (ctx->file) {
		cmd_print_notice(ctx->cmd, "%s has no events for -e %s: jtool jfr view %s events "
				 "lists what it has%s", ctx->file, profile_kinds[p->kind],
				 ctx->file, waits ? file_has : "");
		return;
	}
	if (!waits)
		return;
	units_nanos(&shortest, profile_interval_ns(ctx->opts));
	cmd_print_notice(ctx->cmd, "no %s of %s or longer has ended in this time%s",
			 p->kind == PROFILE_LOCK ? "wait for a lock" : "read or write",
			 buf_str(&shortest), p->kind == PROFILE_LOCK ?
			 ": jtool threads --blocked shows the waits that go on" : "");
}

static void print_gaps(const struct ctx *ctx, const struct profile *p)
{
	for (int gap = 0; gap < N_PROFILE_GAPS; gap++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		if (profile_gap_add(&text, p, (enum profile_gap)gap))
			cmd_print_notice(ctx->cmd, "%s", buf_str(&text));
	}
	if (!p->source)
		print_nothing(ctx, p);
}

int profile_show(const struct ctx *ctx, struct profile *p, struct stack_files *files,
		 struct err *err)
{
	const struct profile_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf title = BUF_INIT, subtitle = BUF_INIT;
	struct hot_methods methods;
	struct profile_view view = {
		.profile = p, .methods = &methods, .pid = ctx->file ? 0 : ctx->jvm->pid,
		.file = ctx->file,
	};
	int rc = 0;

	call_tree_sum(&p->tree);
	hot_methods_find(&methods, &p->tree, p->by_thread);
	view.n = limit_rows(opts->limit, ctx->json, LIMIT_ROWS, methods.n);
	print(ctx, &view);
	print_gaps(ctx, p);
	hot_methods_release(&methods);
	add_title(&title, ctx, p);
	profile_text_summary(&subtitle, p);
	files->pprof.duration_ns = p->duration_ns > 0 ? p->duration_ns : 0;
	files->pprof.period_ns = p->interval_ns;
	if (stack_files_any(files))
		rc = stack_files_write(files, ctx, &p->tree, buf_str(&title), buf_str(&subtitle),
				       err);
	return rc;
}
