#include "cmd/leftout.h"

#include <string.h>

#include "base/xalloc.h"

#define NAMES_SHOWN 4
#define NAMES_KEPT 1000 /* of each reason */

static struct leftout_reason *find(struct leftout *l, const char *why)
{
	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->list[i].why, why) == 0)
			return &l->list[i];
	}
	l->list = xgrow(l->list, l->n, &l->cap, sizeof(*l->list));
	l->list[l->n] = (struct leftout_reason){ .why = xstrdup(why) };
	return &l->list[l->n++];
}

void leftout_add(struct leftout *l, const char *why, const char *name)
{
	struct leftout_reason *reason = find(l, why);

	if (reason->n < NAMES_KEPT) {
		reason->names = xgrow(reason->names, reason->n, &reason->cap,
				      sizeof(*reason->names));
		reason->names[reason->n] = xstrdup(name);
	}
	reason->n++;
}

/* Reasons may be the ends of sentences: "is native". */
static void add_text(const struct leftout_reason *reason, struct buf *out)
{
	const char *why = reason->why;

	buf_addf(out, "%.300s: ", strncmp(why, "is ", 3) == 0 ? why + 3 : why);
	for (size_t i = 0; i < reason->n && i < NAMES_SHOWN; i++)
		buf_addf(out, "%s%.150s", i > 0 ? ", " : "", reason->names[i]);
	if (reason->n > NAMES_SHOWN)
		buf_addf(out, " and %zu more", reason->n - NAMES_SHOWN);
}

static void tell_together(const struct ctx *ctx, const struct leftout_reason *reason)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	add_text(reason, &text);
	cmd_note(ctx->cmd, "left out: %s", buf_str(&text));
}

static void tell_each(const struct ctx *ctx, const struct leftout_reason *reason)
{
	for (size_t i = 0; i < reason->n && i < NAMES_KEPT; i++)
		cmd_note(ctx->cmd, "left out: %s: %.400s", reason->why, reason->names[i]);
	if (reason->n > NAMES_KEPT)
		cmd_note(ctx->cmd, "left out: %s: %zu more", reason->why, reason->n - NAMES_KEPT);
}

void leftout_tell(const struct ctx *ctx, const struct leftout *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (ctx->steps)
			tell_each(ctx, &l->list[i]);
		else
			tell_together(ctx, &l->list[i]);
	}
}

int leftout_refuse(const struct ctx *ctx, const struct leftout *l, const char *what,
		   struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (l->n != 1) {
		leftout_tell(ctx, l);
		return err_set(err, EXIT_ANSWER, "%s", what);
	}
	add_text(&l->list[0], &text);
	return err_set(err, EXIT_ANSWER, "%s: %s", what, buf_str(&text));
}

void leftout_release(struct leftout *l)
{
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < l->list[i].n && k < NAMES_KEPT; k++)
			free(l->list[i].names[k]);
		free(l->list[i].names);
		free(l->list[i].why);
	}
	free(l->list);
	*l = (struct leftout){ 0 };
}
