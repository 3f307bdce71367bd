#include "render/trace_json.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "base/text.h"
#include "model/javasig.h"
#include "render/java_real.h"
#include "render/json.h"
#include "render/trace_value.h"

#define NS_PER_S UINT64_C(1000000000)

static void put_time(struct json *json, uint64_t when_ns)
{
	time_t seconds = (time_t)(when_ns / NS_PER_S);
	char date[40];
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		*date = '\0'; /* 64 bits of nanoseconds end in 2554: there is no such time */
	buf_addf(&text, "%s.%06" PRIu64 "Z", date, when_ns % NS_PER_S / 1000);
	json_put_text(json, "time", buf_str(&text));
}

/* A float is told by its own digits: 0.1, not 0.10000000149011612. */
static void put_real(struct json *parent, const char *key, const struct tracevalue *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	java_real(&text, value->real, value->kind == VALUE_FLOAT);
	if (isfinite(value->real))
		json_put_real(parent, key, strtod(buf_str(&text), NULL));
	else
		json_put_text(parent, key, buf_str(&text));
}

static void put_char(struct json *parent, const char *key, uint32_t c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	text_add_char(&text, c);
	json_put_text_len(parent, key, buf_str(&text), text.len);
}

static void put_name(struct json *parent, const char *key, const struct tracevalue *value)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	trace_value_name(&name, value);
	json_put_text_len(parent, key, buf_str(&name), name.len);
}

static struct json *list_json(struct wire_text rest, bool *cut);

static void put_array(struct json *parent, const char *key, const struct tracevalue *array,
		      bool *cut)
{
	struct json *json = json_object();

	json_put_text(json, "class", buf_str(&array->class));
	json_put_unsigned(json, "length", array->length);
	json_put(json, "elements", list_json(array->elements, cut));
	json_put(parent, key, json);
}

static void put_value(struct json *parent, const char *key, const struct tracevalue *value,
		      bool *cut)
{
	if (value->cut)
		*cut = true;
	switch (value->kind) {
	case VALUE_BOOLEAN:
		json_put_bool(parent, key, value->number != 0);
		break;
	case VALUE_CHAR:
		put_char(parent, key, (uint32_t)value->number);
		break;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		put_real(parent, key, value);
		break;
	case VALUE_NULL:
	case VALUE_CUT:
		json_put_null(parent, key);
		break;
	case VALUE_STRING:
		json_put_text_len(parent, key, buf_str(&value->text), value->text.len);
		break;
	case VALUE_ARRAY:
		put_array(parent, key, value, cut);
		break;
	case VALUE_ENUM:
	case VALUE_THROWABLE:
	case VALUE_OBJECT:
		put_name(parent, key, value);
		break;
	default:
		json_put_number(parent, key, value->number);
		break;
	}
}

/* Those that were told; what there was no room for is not among them. */
static struct json *list_json(struct wire_text rest, bool *cut)
{
	struct json *list = json_array();
	struct tracevalue value = { 0 };
	int rc;

	while ((rc = tracevalue_next(&rest, &value)) > 0 && value.kind != VALUE_CUT)
		put_value(list, NULL, &value, cut);
	if (rc != 0)
		*cut = true;
	tracevalue_release(&value);
	return list;
}

static const char *how_returned(const struct trace_call *call)
{
	if (call->threw)
		return "exception";
	if (call->is_void)
		return "void";
	return call->result.len > 0 ? "value" : NULL;
}

static void put_outcome(struct json *json, const char *key, const struct trace_call *call,
			bool *cut)
{
	struct wire_text rest = call->result;
	struct tracevalue value = { 0 };
	int rc = tracevalue_next(&rest, &value);

	if (rc < 0 || value.cut)
		*cut = true;
	if (call->threw && (rc <= 0 || value.kind != VALUE_THROWABLE))
		json_put_text(json, key, "java.lang.Throwable");
	else if (rc > 0)
		put_value(json, key, &value, cut);
	else
		json_put_null(json, key);
	tracevalue_release(&value);
}

static void put_result(struct json *json, const struct trace_call *call, bool *cut)
{
	json_put_text(json, "returned", how_returned(call));
	if (call->threw)
		json_put_null(json, "result");
	else
		put_outcome(json, "result", call, cut);
	if (call->threw)
		put_outcome(json, "exception", call, cut);
	else
		json_put_null(json, "exception");
}

static void put_stack(struct json *json, const struct trace *t, const struct trace_call *call)
{
	struct json *stack;

	if (call->n_frames == 0) {
		json_put_null(json, "stack");
		return;
	}
	stack = json_array();
	for (uint32_t i = 0; i < call->n_frames; i++)
		json_put_text(stack, NULL, t->frames.texts[call->frames[i]]);
	json_put(json, "stack", stack);
}

void trace_json_add(struct buf *out, const struct trace *t, const struct trace_call *call)
{
	_cleanup_buf_ struct buf thread = BUF_INIT, method = BUF_INIT;
	struct json *json = json_object();
	bool cut = false;

	javasig_text(&thread, (struct cf_text){ call->thread.data, call->thread.len });
	trace_method_name(t, call->method, &method);
	put_time(json, call->when_ns);
	json_put_text_len(json, "thread", buf_str(&thread), thread.len);
	json_put_unsigned(json, "thread_id", call->thread_id);
	json_put_text(json, "method", buf_str(&method));
	json_put_unsigned(json, "nanos", call->ns);
	if (call->has_args)
		json_put(json, "args", list_json(call->args, &cut));
	else
		json_put_null(json, "args");
	put_result(json, call, &cut);
	json_put_bool(json, "cut", cut);
	put_stack(json, t, call);
	json_add(out, json);
	buf_addc(out, '\n');
	json_free(json);
}
