#include "cmd/vm/print_props.h"

#include <string.h>

#include "base/printable.h"
#include "cmd/attach_call.h"
#include "base/suggest.h"
#include "model/vm/props.h"
#include "render/json.h"
#include "wire/glob.h"

#define ANSWER_MAX (64u * 1024 * 1024)

static int read_props(const struct ctx *ctx, const char *op, struct props *props, struct err *err)
{
	const struct attach_request req = { op, NULL, 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (attach_call_text(ctx, &req, ANSWER_MAX, &text, err) < 0)
		return -1;
	if (props_parse(props, buf_str(&text), text.len) < 0)
		return err_set(err, EXIT_PARTIAL,
			       "the JVM's answer to '%s' is incomplete or malformed; try again",
			       op);
	return 0;
}

static int unknown(const struct props *props, const char *name, struct err *err)
{
	struct suggestions near = SUGGEST_INIT(name);
	int rc;

	for (size_t i = 0; i < props->n; i++)
		suggest_offer(&near, props->items[i].name);
	rc = err_set(err, EXIT_ANSWER, "this JVM has no property %s%s", name, suggest_hint(&near));
	suggest_release(&near);
	return rc;
}

static void put(struct json *all, const struct prop *prop)
{
	json_put_text_len(all, prop->name, prop->value, prop->value_len);
}

/* Prints the property `one` as JSON, or all properties if `one` is NULL. */
static void show_json(const struct ctx *ctx, const struct props *props, const struct prop *one)
{
	struct json *doc = json_object(), *all = json_object();

	if (one)
		put(all, one);
	for (size_t i = 0; !one && i < props->n; i++)
		put(all, &props->items[i]);
	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put(doc, "properties", all);
	json_print_take(doc, ctx->out);
}

static void show_lines(const struct ctx *ctx, const struct props *props)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	for (size_t i = 0; i < props->n; i++) {
		const struct prop *prop = &props->items[i];

		buf_reset(&line);
		printable_add(&line, prop->name, strlen(prop->name));
		buf_addc(&line, '=');
		printable_add(&line, prop->value, prop->value_len);
		fprintf(ctx->out, "%s\n", buf_str(&line));
	}
}

/* Prints the value of a property; on a terminal or for all JVMs, escapes control characters. */
static void show_value(const struct ctx *ctx, const struct prop *prop)
{
	_cleanup_buf_ struct buf value = BUF_INIT;

	if (ctx->all || ctx->to_terminal)
		printable_add(&value, prop->value, prop->value_len);
	else
		buf_add(&value, prop->value, prop->value_len);
	buf_addc(&value, '\n');
	(void)fwrite(value.data, 1, value.len, ctx->out); /* main checks ferror() */
}

static int show(const struct ctx *ctx, struct props *props, struct err *err)
{
	const char *name = ctx->n_args > 0 ? ctx->args[0] : NULL;
	const struct prop *one = name ? props_find(props, name) : NULL;

	if (name && !one) {
		if (!glob_is_pattern(name))
			return unknown(props, name, err);
		props_filter(props, name);
		if (props->n == 0)
			return err_set(err, EXIT_ANSWER, "no property matches '%s'; without a "
				       "pattern, all are listed", name);
	}
	if (ctx->json)
		show_json(ctx, props, one);
	else if (one)
		show_value(ctx, one);
	else
		show_lines(ctx, props);
	return 0;
}

int print_props(const struct ctx *ctx, const char *op, struct err *err)
{
	struct props props = { 0 };
	int rc = read_props(ctx, op, &props, err);

	if (rc == 0)
		rc = show(ctx, &props, err);
	props_release(&props);
	return rc;
}
