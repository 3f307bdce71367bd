/* Adds the stacks of a chunk to the tree.  A stack is read only for the first event that has it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_names.h"
#include "model/jfr/profile/jfr_profile_internal.h"

#define FRAMES_MAX 2048 /* limit of JFR's option stackdepth; no JVM records more frames */

void jfr_profile_stacks_begin(struct jfr_profile_stacks *s)
{
	id_map_release(&s->nodes);
	id_map_release(&s->methods);
	s->n = 0;
	if (s->names.n == 0)
		(void)intern_text(&s->names, "");
}

void jfr_profile_stacks_release(struct jfr_profile_stacks *s)
{
	id_map_release(&s->nodes);
	id_map_release(&s->methods);
	intern_release(&s->names);
	free(s->list);
	free(s->frames);
	free(s->lines);
	buf_release(&s->text);
}

/* Adds the method's name to s->names if necessary, and returns the name's number there. */
static uint32_t method_of(struct jfr_profile_stacks *s, const struct jfr_chunk *chunk,
			  const struct jfr_datum *method)
{
	uint32_t number = method->has_key ? id_map_get(&s->methods, (uint64_t)method->key)
					  : ID_MAP_NONE;
	const char *text;

	if (number != ID_MAP_NONE)
		return number;
	buf_reset(&s->text);
	if (method->kind == JFR_FIELDS)
		jfr_method_name_add(&s->text, chunk, method);
	text = buf_str(&s->text);
	if (*text == '.') /* a native function has no class name before the '.' */
		text++;
	number = intern_text(&s->names, *text ? text : "(unknown method)");
	if (method->has_key)
		(void)id_map_add(&s->methods, (uint64_t)method->key, number);
	return number;
}

static bool is_constructor(const struct jfr_profile_stacks *s, uint32_t method)
{
	const char *name = intern_get(&s->names, method, NULL);
	const char *dot = strrchr(name, '.');

	return dot && strcmp(dot, ".<init>") == 0;
}

/*
 * Stores the frames, the innermost first, at most s->depth of them (0: no limit).  Returns the
 * number of stored frames, and sets *n_all to the number of all frames.
 */
static uint32_t read_frames(struct jfr_profile_stacks *s, const struct jfr_chunk *chunk,
			    struct jfr_stack *stack, uint32_t *n_all)
{
	uint32_t n = 0, all = 0;
	struct jfr_frame frame;

	while (all < FRAMES_MAX && jfr_stack_next(stack, &frame)) {
		uint32_t method = method_of(s, chunk, &frame.method);

		if (n == 0 && s->skips_constructors && is_constructor(s, method))
			continue;
		all++;
		if (s->depth > 0 && n >= s->depth)
			continue;
		s->frames = xgrow(s->frames, n, &s->frames_cap, sizeof(*s->frames));
		s->lines = xgrow(s->lines, n, &s->lines_cap, sizeof(*s->lines));
		s->frames[n] = method;
		s->lines[n++] = frame.line;
	}
	*n_all = all;
	return n;
}

static uint32_t add_frames(struct jfr_profile_stacks *s, uint32_t node, uint32_t n)
{
	while (n-- > 0) {
		const char *name = intern_get(&s->names, s->frames[n], NULL);

		buf_reset(&s->text);
		buf_adds(&s->text, name);
		if (s->lines[n] > 0 && *name != '(')
			buf_addf(&s->text, ":%" PRId64, s->lines[n]);
		node = call_tree_child(&s->p->tree, node, buf_str(&s->text));
	}
	return node;
}

/* Returns the node of the event's thread, which is a child of the tree's root. */
static uint32_t add_thread(struct jfr_profile_stacks *s, const struct jfr_event *e,
			   const struct jfr_path *path)
{
	struct jfr_datum thread;
	size_t empty;

	buf_reset(&s->text);
	buf_addc(&s->text, '[');
	empty = s->text.len;
	jfr_get(e, path, &thread);
	jfr_name_add(&s->text, e->chunk, &thread);
	if (s->text.len == empty)
		buf_adds(&s->text, thread.kind == JFR_FIELDS ? "thread without a name"
							     : "unknown thread");
	buf_addc(&s->text, ']');
	return call_tree_child(&s->p->tree, 0, buf_str(&s->text));
}

uint32_t jfr_profile_lost_node(struct jfr_profile_stacks *s, const struct jfr_event *e,
			       const struct jfr_path *thread)
{
	uint32_t node = s->p->by_thread ? add_thread(s, e, thread) : 0;

	return call_tree_child(&s->p->tree, node, "(lost samples)");
}

static void read_stack(struct jfr_profile_stacks *s, const struct jfr_event *e,
		       const struct jfr_path *thread, const struct jfr_path *path,
		       struct jfr_profile_stack *out)
{
	struct call_tree *tree = &s->p->tree;
	struct jfr_datum trace;
	struct jfr_stack stack;
	uint32_t n, all, node = s->p->by_thread ? add_thread(s, e, thread) : 0;

	jfr_get(e, path, &trace);
	jfr_stack_read(e->chunk, &trace, &stack);
	n = read_frames(s, e->chunk, &stack, &all);
	out->truncated = stack.truncated;
	out->has_frames = n > 0;
	out->top = n > 0 ? s->frames[0] : 0;
	if (n == 0)
		node = call_tree_child(tree, node, "(unknown stack)");
	else if (stack.truncated || n < all)
		node = call_tree_cut(tree, node, n);
	out->node = add_frames(s, node, n);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	a ^= b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2);
	return a * UINT64_C(0xff51afd7ed558ccd);
}

const struct jfr_profile_stack *jfr_profile_stack_of(struct jfr_profile_stacks *s,
						     const struct jfr_event *e,
						     const struct jfr_path *thread,
						     const struct jfr_path *trace)
{
	int64_t thread_key = s->p->by_thread && thread->n > 0
				     ? jfr_get_key(e, thread->fields[0]) : 0;
	int64_t trace_key = trace->n > 0 ? jfr_get_key(e, trace->fields[0]) : 0;
	uint64_t id = mix((uint64_t)trace_key, (uint64_t)thread_key);
	struct jfr_profile_stack *stack;
	uint32_t i;

	for (; (i = id_map_get(&s->nodes, id)) != ID_MAP_NONE; id++) {
		if (s->list[i].thread == thread_key && s->list[i].trace == trace_key)
			return &s->list[i];
	}
	s->list = xgrow(s->list, s->n, &s->cap, sizeof(*s->list));
	stack = &s->list[s->n];
	*stack = (struct jfr_profile_stack){ .thread = thread_key, .trace = trace_key };
	read_stack(s, e, thread, trace, stack);
	(void)id_map_add(&s->nodes, id, (uint32_t)s->n++);
	return stack;
}
