#include "cmd/propshow.h"

#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "cmd/answer.h"
#include "model/near.h"
#include "model/props.h"
#include "render/json.h"

#define ANSWER_MAX (64u * 1024 * 1024)

static int ask(const struct ctx *ctx, const char *op, struct props *props, struct err *err)
{
	const struct attach_request req = { op, NULL, 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (answer_text(ctx, &req, ANSWER_MAX, &text, err) < 0)
		return -1;
	if (props_parse(props, buf_str(&text), text.len) < 0)
		return err_set(err, EXIT_PARTIAL,
			       "the JVM's answer to '%s' is no whole table of properties", op);
	return 0;
}

static int unknown(const struct props *props, const char *name, struct err *err)
{
	struct near near = NEAR_INIT(name);
	int rc;

	for (size_t i = 0; i < props->n; i++)
		near_offer(&near, props->items[i].name);
	rc = err_set(err, EXIT_ANSWER, "there is no property %s%s", name, near_hint(&near));
	near_release(&near);
	return rc;
}

static void put(struct json *all, const struct prop *prop)
{
	json_put_text_len(all, prop->name, prop->value, prop->value_len);
}

/* All of them, or the one. */
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
		text_printable(&line, prop->name, strlen(prop->name));
		buf_addc(&line, '=');
		text_printable(&line, prop->value, prop->value_len);
		fprintf(ctx->out, "%s\n", buf_str(&line));
	}
}

/* As it is, for a script; a terminal gets nothing that would drive it. */
static void show_value(const struct ctx *ctx, const struct prop *prop)
{
	_cleanup_buf_ struct buf value = BUF_INIT;

	if (ctx->all || isatty(fileno(ctx->out)))
		text_printable(&value, prop->value, prop->value_len);
	else
		buf_add(&value, prop->value, prop->value_len);
	buf_addc(&value, '\n');
	(void)fwrite(value.data, 1, value.len, ctx->out); /* a failure stays in the stream */
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
			return err_set(err, EXIT_ANSWER, "no property matches '%s'", name);
	}
	if (ctx->json)
		show_json(ctx, props, one);
	else if (one)
		show_value(ctx, one);
	else
		show_lines(ctx, props);
	return 0;
}

int propshow(const struct ctx *ctx, const char *op, struct err *err)
{
	struct props props = { 0 };
	int rc = ask(ctx, op, &props, err);

	if (rc == 0)
		rc = show(ctx, &props, err);
	props_release(&props);
	return rc;
}
