#include "render/profile/trace_call.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/printable.h"
#include "model/class/javasig.h"
#include "render/profile/trace_value.h"
#include "render/units.h"

#define NS_PER_S UINT64_C(1000000000)
#define THREAD_WIDEST 40 /* wider thread names are not aligned */

/* A call, and its texts. */
struct view {
	const struct trace *trace;
	const struct trace_call *call;
	struct buf thread;       /* name of the thread; empty: none */
	/*
	 * `name` is "a.b.C.m"; `method` has the parameter types as well if the method is overloaded
	 */
	struct buf name, method;
	int outcome;             /* what trace_value_next() returned for `result` */
	struct trace_value result;
};

static void view_init(struct view *v, const struct trace *t, const struct trace_call *call)
{
	const struct trace_method *m = &t->methods[call->method];
	struct wire_text result = call->result;

	*v = (struct view){ .trace = t, .call = call };
	javasig_text(&v->thread, (struct cf_text){ call->thread.data, call->thread.len });
	buf_addf(&v->name, "%s.", m->class);
	javasig_text(&v->name, (struct cf_text){ m->name, strlen(m->name) });
	trace_method_name(t, call->method, &v->method);
	v->outcome = trace_value_next(&result, &v->result);
}

static void view_release(struct view *v)
{
	buf_release(&v->thread);
	buf_release(&v->name);
	buf_release(&v->method);
	trace_value_release(&v->result);
}

static void add_time(struct buf *out, uint64_t when_ns)
{
	time_t seconds = (time_t)(when_ns / NS_PER_S);
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		tm = (struct tm){ 0 }; /* does not happen: when_ns is before the year 2554 */
	buf_addf(out, "%02d:%02d:%02d.%03d  ", tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (int)(when_ns % NS_PER_S / 1000000));
}

static void add_padding(struct buf *out, size_t width, size_t wanted)
{
	for (; width < wanted; width++)
		buf_addc(out, ' ');
}

static void add_thread(struct trace_text *text, struct buf *out, const struct view *v)
{
	size_t start = out->len, width;

	if (v->thread.len > 0)
		printable_add(out, v->thread.data, v->thread.len);
	else
		buf_addf(out, "#%" PRIu64, v->call->thread_id);
	width = printable_width(out->data + start, out->len - start);
	if (width > text->thread_width && width <= THREAD_WIDEST)
		text->thread_width = width;
	add_padding(out, width, text->thread_width);
}

static void add_duration(struct buf *out, uint64_t ns)
{
	_cleanup_buf_ struct buf time = BUF_INIT;

	units_nanos(&time, ns);
	buf_adds(out, "  ");
	add_padding(out, time.len, UNITS_NANOS_WIDTH);
	buf_adds(out, buf_str(&time));
	buf_adds(out, "  ");
}

/* Appends the simple name of parameter n's type, which helps to identify an overloaded method. */
static void add_type(struct buf *out, const struct view *v, unsigned n)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	const char *simple;

	if (!trace_parameter_type(v->trace, v->call->method, n, &name))
		return;
	simple = strrchr(buf_str(&name), '.');
	simple = simple ? simple + 1 : buf_str(&name);
	printable_add(out, simple, strlen(simple));
	buf_addc(out, ' ');
}

/* Appends the arguments as (7, "tea"), or for an overloaded method as (int 7, String "tea"). */
static void add_arguments(struct buf *out, const struct view *v)
{
	bool typed = trace_is_overloaded(v->trace, v->call->method);
	struct wire_text rest = v->call->args;
	struct trace_value value = { 0 };
	unsigned n = 0;
	int rc;

	buf_addc(out, '(');
	while ((rc = trace_value_next(&rest, &value)) > 0) {
		buf_adds(out, n > 0 ? ", " : "");
		if (typed && value.kind != VALUE_CUT)
			add_type(out, v, n);
		trace_value_add(out, &value);
		n++;
	}
	if (rc < 0)
		buf_adds(out, n > 0 ? ", ..." : "...");
	buf_addc(out, ')');
	trace_value_release(&value);
}

static void add_method(struct buf *out, const struct view *v)
{
	const struct buf *name = v->call->has_args ? &v->name : &v->method;

	printable_add(out, name->data, name->len);
	if (v->call->has_args)
		add_arguments(out, v);
	else if (!trace_is_overloaded(v->trace, v->call->method))
		buf_adds(out, "(...)");
}

static void add_outcome(struct buf *out, const struct view *v)
{
	if (v->outcome == 0 && !v->call->threw)
		return;
	buf_adds(out, v->call->threw ? " ! " : " = ");
	if (v->outcome == 0)
		buf_adds(out, "java.lang.Throwable");
	else if (v->outcome > 0)
		trace_value_add(out, &v->result);
	else
		buf_adds(out, "...");
}

static void add_stack(struct buf *out, const struct view *v)
{
	for (uint32_t i = 0; i < v->call->n_frames; i++) {
		const char *frame = v->trace->frames.texts[v->call->frames[i]];

		buf_adds(out, "    at ");
		printable_add(out, frame, strlen(frame));
		buf_addc(out, '\n');
	}
}

void trace_text_add(struct trace_text *text, struct buf *out, const struct trace *t,
		    const struct trace_call *call)
{
	struct view v;

	view_init(&v, t, call);
	add_time(out, call->when_ns);
	add_thread(text, out, &v);
	add_duration(out, call->ns);
	add_method(out, &v);
	add_outcome(out, &v);
	buf_addc(out, '\n');
	add_stack(out, &v);
	view_release(&v);
}

static void put_time(struct json *json, uint64_t when_ns)
{
	time_t seconds = (time_t)(when_ns / NS_PER_S);
	char date[40];
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		*date = '\0'; /* does not happen: when_ns is before the year 2554 */
	buf_addf(&text, "%s.%06" PRIu64 "Z", date, when_ns % NS_PER_S / 1000);
	json_put_text(json, "time", buf_str(&text));
}

static const char *how_returned(const struct view *v)
{
	if (v->call->threw)
		return "exception";
	if (v->call->is_void)
		return "void";
	return v->outcome != 0 ? "value" : NULL;
}

static void put_outcome(struct json *json, const char *key, const struct view *v, bool *cut)
{
	bool is_known = v->outcome > 0 && (!v->call->threw || v->result.kind == VALUE_THROWABLE);

	*cut |= v->outcome < 0 || v->result.cut;
	if (is_known)
		trace_value_put(json, key, &v->result, cut);
	else
		json_put_text(json, key, v->call->threw ? "java.lang.Throwable" : NULL);
}

static struct json *stack_json(const struct view *v)
{
	struct json *stack;

	if (v->call->n_frames == 0)
		return NULL; /* becomes null in JSON */
	stack = json_array();
	for (uint32_t i = 0; i < v->call->n_frames; i++)
		json_put_text(stack, NULL, v->trace->frames.texts[v->call->frames[i]]);
	return stack;
}

static struct json *view_json(const struct view *v)
{
	const struct trace_call *call = v->call;
	struct json *json = json_object();
	bool cut = false;

	put_time(json, call->when_ns);
	json_put_text_len(json, "thread", buf_str(&v->thread), v->thread.len);
	json_put_unsigned(json, "thread_id", call->thread_id);
	json_put_text(json, "method", buf_str(&v->method));
	json_put_unsigned(json, "nanos", call->ns);
	json_put(json, "args", call->has_args ? trace_values_json(call->args, &cut) : NULL);
	json_put_text(json, "returned", how_returned(v));
	if (call->threw)
		json_put_null(json, "result");
	put_outcome(json, call->threw ? "exception" : "result", v, &cut);
	if (!call->threw)
		json_put_null(json, "exception");
	json_put_bool(json, "cut", cut);
	json_put(json, "stack", stack_json(v));
	return json;
}

void trace_json_add(struct buf *out, const struct trace *t, const struct trace_call *call)
{
	struct json *json;
	struct view v;

	view_init(&v, t, call);
	json = view_json(&v);
	json_add_document(out, json);
	buf_addc(out, '\n');
	json_free(json);
	view_release(&v);
}

void trace_text_state(struct buf *out, const struct trace_state *state)
{
	uint64_t skipped;

	units_count(out, state->calls);
	buf_adds(out, state->calls == 1 ? " call" : " calls");
	if (__builtin_add_overflow(state->too_many, state->no_room, &skipped))
		skipped = UINT64_MAX;
	if (skipped == 0)
		return;
	buf_adds(out, ", ");
	units_count(out, skipped);
	buf_adds(out, " of them skipped: ");
	if (state->too_many > 0) {
		units_count(out, state->too_many);
		buf_adds(out, " above the rate limit");
	}
	if (state->no_room > 0) {
		buf_adds(out, state->too_many > 0 ? ", " : "");
		units_count(out, state->no_room);
		buf_adds(out, " for lack of buffer space");
	}
}
