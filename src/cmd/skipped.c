#include "cmd/skipped.h"

#include <string.h>

#include "base/xalloc.h"

#define NAMES_SHOWN 5 /* number of names that an error message lists */
#define REASONS_SHOWN 4

static struct skipped_reason *find(struct skipped *s, const char *why)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->list[i].why, why) == 0)
			return &s->list[i];
	}
	s->list = xgrow(s->list, s->n, &s->cap, sizeof(*s->list));
	s->list[s->n] = (struct skipped_reason){ .why = xstrdup(why) };
	return &s->list[s->n++];
}

void skipped_add(struct skipped *s, const char *why, const char *name, const char *loader)
{
	struct skipped_reason *reason = find(s, why);

	reason->items = xgrow(reason->items, reason->n, &reason->cap, sizeof(*reason->items));
	reason->items[reason->n++] = (struct skipped_item){ xstrdup(name), loader };
	s->n_items++;
}

/* Returns the reason without a verb at its start: "native" for "is native". */
static const char *why_of(const struct skipped_reason *reason)
{
	return strncmp(reason->why, "is ", 3) == 0 ? reason->why + 3 : reason->why;
}

static void add_text(const struct skipped_reason *reason, struct buf *out)
{
	buf_addf(out, "%.240s: ", why_of(reason));
	for (size_t i = 0; i < reason->n && i < NAMES_SHOWN; i++)
		buf_addf(out, "%s%.140s", i > 0 ? ", " : "", reason->items[i].name);
	if (reason->n > NAMES_SHOWN)
		buf_addf(out, " and %zu more", reason->n - NAMES_SHOWN);
}

static void print_counts(const struct ctx *ctx, const char *what, const struct skipped *s)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (size_t i = 0; i < s->n && i < REASONS_SHOWN; i++)
		buf_addf(&text, "%s%.120s (%zu)", i > 0 ? ", " : "", why_of(&s->list[i]),
			 s->list[i].n);
	if (s->n > REASONS_SHOWN)
		buf_addf(&text, ", and more for %zu other reasons", s->n - REASONS_SHOWN);
	cmd_print_notice(ctx->cmd, "%s: %s; -v lists them", what, buf_str(&text));
}

static void print_items(const struct ctx *ctx, const char *what,
			const struct skipped_reason *reason)
{
	for (size_t i = 0; i < reason->n; i++)
		cmd_print_notice(ctx->cmd, "%s: %s: %.400s", what, why_of(reason),
				 reason->items[i].name);
}

void skipped_print(const struct ctx *ctx, const struct skipped *s)
{
	const char *what = s->what ? s->what : "skipped";

	if (s->n_items > 1 && !ctx->steps) {
		print_counts(ctx, what, s);
		return;
	}
	for (size_t i = 0; i < s->n; i++)
		print_items(ctx, what, &s->list[i]);
}

static struct json *item_json(const struct skipped_item *item, const char *why)
{
	struct json *json = json_object();

	json_put_text(json, "class", item->name);
	json_put_text(json, "loader", item->loader);
	json_put_text(json, "reason", why);
	return json;
}

struct json *skipped_json(const struct skipped *s)
{
	struct json *list = json_array();

	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->list[i].n; k++)
			json_put(list, NULL, item_json(&s->list[i].items[k], s->list[i].why));
	}
	return list;
}

int skipped_refuse(const struct ctx *ctx, const struct skipped *s, const char *what,
		   struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (s->n != 1) {
		skipped_print(ctx, s);
		return err_set(err, EXIT_ANSWER, "%s", what);
	}
	add_text(&s->list[0], &text);
	return err_set(err, EXIT_ANSWER, "%s: %s", what, buf_str(&text));
}

void skipped_release(struct skipped *s)
{
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->list[i].n; k++)
			free(s->list[i].items[k].name);
		free(s->list[i].items);
		free(s->list[i].why);
	}
	free(s->list);
	*s = (struct skipped){ 0 };
}
