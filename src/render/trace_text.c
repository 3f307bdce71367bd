#include "render/trace_text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "classfile/descr.h"
#include "model/javasig.h"
#include "render/trace_value.h"
#include "render/units.h"

#define NS_PER_S UINT64_C(1000000000)
#define THREAD_WIDEST 40 /* what others are aligned with */

static void add_time(struct buf *out, uint64_t when_ns)
{
	time_t seconds = (time_t)(when_ns / NS_PER_S);
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		tm = (struct tm){ 0 }; /* there is no calendar to ask */
	buf_addf(out, "%02d:%02d:%02d.%03d  ", tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (int)(when_ns % NS_PER_S / 1000000));
}

static void add_padding(struct buf *out, size_t width, size_t wanted)
{
	for (; width < wanted; width++)
		buf_addc(out, ' ');
}

static void add_thread(struct trace_text *text, struct buf *out, const struct trace_call *call)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	size_t start = out->len, width;

	javasig_text(&name, (struct cf_text){ call->thread.data, call->thread.len });
	if (name.len == 0)
		buf_addf(&name, "#%" PRIu64, call->thread_id);
	text_printable(out, name.data, name.len);
	width = text_width(out->data + start, out->len - start);
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

/* What the next argument's type is called, where it tells which of several methods this is. */
static void add_type(struct buf *out, struct cf_text *parameters)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	const char *simple;
	struct cf_type type;

	if (!cf_type_next(parameters, &type))
		return;
	javasig_type(&name, type.text);
	simple = strrchr(buf_str(&name), '.');
	simple = simple ? simple + 1 : buf_str(&name);
	text_printable(out, simple, strlen(simple));
	buf_addc(out, ' ');
}

/* (7, "tea"), or with types: (int 7, String "tea") */
static void add_arguments(struct buf *out, const struct trace *t, const struct trace_call *call)
{
	const char *descriptor = t->methods[call->method].descriptor;
	bool typed = trace_is_overloaded(t, call->method);
	struct wire_text rest = call->args;
	struct tracevalue value = { 0 };
	struct cf_text parameters;
	struct cf_type result;
	const char *between = "";
	int rc;

	if (!cf_method_types((struct cf_text){ descriptor, strlen(descriptor) }, &parameters,
			     &result))
		typed = false;
	buf_addc(out, '(');
	while ((rc = tracevalue_next(&rest, &value)) > 0) {
		buf_adds(out, between);
		if (typed && value.kind != VALUE_CUT)
			add_type(out, &parameters);
		trace_value_add(out, &value);
		between = ", ";
	}
	if (rc < 0)
		buf_addf(out, "%s...", between);
	buf_addc(out, ')');
	tracevalue_release(&value);
}

static void add_method(struct buf *out, const struct trace *t, const struct trace_call *call)
{
	const struct trace_method *m = &t->methods[call->method];
	_cleanup_buf_ struct buf name = BUF_INIT;

	if (!call->has_args) {
		trace_method_name(t, call->method, &name);
		text_printable(out, name.data, name.len);
		buf_adds(out, trace_is_overloaded(t, call->method) ? "" : "(...)");
		return;
	}
	buf_addf(&name, "%s.", m->class);
	javasig_text(&name, (struct cf_text){ m->name, strlen(m->name) });
	text_printable(out, name.data, name.len);
	add_arguments(out, t, call);
}

static void add_result(struct buf *out, const struct trace_call *call)
{
	struct wire_text rest = call->result;
	struct tracevalue value = { 0 };

	if (call->result.len > 0) {
		buf_adds(out, call->threw ? " ! " : " = ");
		if (tracevalue_next(&rest, &value) > 0)
			trace_value_add(out, &value);
		else
			buf_adds(out, "...");
	} else if (call->threw) {
		buf_adds(out, " ! java.lang.Throwable");
	}
	tracevalue_release(&value);
}

static void add_stack(struct buf *out, const struct trace *t, const struct trace_call *call)
{
	for (uint32_t i = 0; i < call->n_frames; i++) {
		const char *frame = t->frames.texts[call->frames[i]];

		buf_adds(out, "    at ");
		text_printable(out, frame, strlen(frame));
		buf_addc(out, '\n');
	}
}

void trace_text_add(struct trace_text *text, struct buf *out, const struct trace *t,
		    const struct trace_call *call)
{
	add_time(out, call->when_ns);
	add_thread(text, out, call);
	add_duration(out, call->ns);
	add_method(out, t, call);
	add_result(out, call);
	buf_addc(out, '\n');
	add_stack(out, t, call);
}

void trace_text_state(struct buf *out, const struct trace_state *state)
{
	uint64_t passed_over;

	units_count(out, state->calls);
	buf_adds(out, state->calls == 1 ? " call" : " calls");
	if (__builtin_add_overflow(state->too_many, state->no_room, &passed_over))
		passed_over = UINT64_MAX;
	if (passed_over == 0)
		return;
	buf_adds(out, ", ");
	units_count(out, passed_over);
	buf_adds(out, " of them passed over: ");
	if (state->too_many > 0) {
		units_count(out, state->too_many);
		buf_adds(out, " beyond the rate");
	}
	if (state->no_room > 0) {
		buf_adds(out, state->too_many > 0 ? ", " : "");
		units_count(out, state->no_room);
		buf_adds(out, " for lack of room");
	}
}
