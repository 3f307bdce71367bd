#include "cmd/trace/trace_stacks.h"

#include <time.h>

#include "cmd/trace/trace.h"
#include "render/profile/trace_call.h"

int trace_stacks_open(struct trace_stacks *s, const struct trace_opts *opts, struct err *err)
{
	*s = (struct trace_stacks){ 0 };
	s->files.no_lines = opts->no_lines;
	call_tree_init(&s->tree, "ns", "calls");
	return stack_files_open(&s->files, opts->paths, opts->force, err);
}

/*
 * Adds the stack of a call.  The frame of the traced method has no line number: the hook walks the
 * stack when the method returns, and the method may have several returns.  A call without a stack
 * is added as a stack with only the method.
 */
void trace_stacks_add(struct trace_stacks *s, const struct trace *t,
		      const struct trace_call *call)
{
	const uint64_t values[CALL_TREE_VALUES] = { call->ns, 1 };
	uint32_t node = call_tree_begin(&s->tree, call->n_frames, WIRE_TRACE_DEPTH);

	for (uint32_t i = call->n_frames; i-- > 1;)
		node = call_tree_child(&s->tree, node, t->frames.texts[call->frames[i]]);
	buf_reset(&s->name);
	trace_method_name(t, call->method, &s->name);
	node = call_tree_child(&s->tree, node, buf_str(&s->name));
	call_tree_add(&s->tree, node, values);
}

static void add_title(struct buf *out, const struct ctx *ctx)
{
	buf_adds(out, "Calls of ");
	for (int i = 0; i < ctx->n_args; i++)
		buf_addf(out, "%s%s", i > 0 ? ", " : "", ctx->args[i]);
}

static void add_subtitle(struct buf *out, const struct ctx *ctx, const struct trace *t)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	buf_addf(out, "JVM %d, ", (int)ctx->jvm->pid);
	if (localtime_r(&now, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm) > 0)
		buf_addf(out, "%s, ", text);
	trace_text_state(out, &t->state);
}

int trace_stacks_write(struct trace_stacks *s, const struct ctx *ctx, const struct trace *t,
		       struct err *err)
{
	_cleanup_buf_ struct buf title = BUF_INIT, subtitle = BUF_INIT;

	add_title(&title, ctx);
	add_subtitle(&subtitle, ctx, t);
	return stack_files_write(&s->files, ctx, &s->tree, buf_str(&title), buf_str(&subtitle),
				 err);
}

void trace_stacks_release(struct trace_stacks *s)
{
	stack_files_release(&s->files);
	call_tree_release(&s->tree);
	buf_release(&s->name);
}
