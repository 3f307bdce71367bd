#include "cmd/remarks.h"

#include <string.h>

#include "base/xalloc.h"

#define EACH_MAX 5 /* so many have a line each */
#define NAMES_MAX 3 /* of more than that, so many are named */

static struct remark *find(struct remarks *r, const char *why)
{
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->list[i].why, why) == 0)
			return &r->list[i];
	}
	r->list = xgrow(r->list, r->n, &r->cap, sizeof(*r->list));
	r->list[r->n] = (struct remark){ .why = xstrdup(why) };
	return &r->list[r->n++];
}

void remarks_add(struct remarks *r, const char *why, const struct class_row *row)
{
	struct remark *remark = find(r, why);

	remark->rows = xgrow(remark->rows, remark->n, &remark->cap, sizeof(*remark->rows));
	remark->rows[remark->n++] = row;
	r->n_rows++;
}

static void tell_each(const struct ctx *ctx, const char *what, const struct remark *remark)
{
	for (size_t i = 0; i < remark->n; i++)
		cmd_note(ctx->cmd, "%.400s %s: %s", remark->rows[i]->name, what, remark->why);
}

static void tell_together(const struct ctx *ctx, const char *what, const struct remark *remark)
{
	_cleanup_buf_ struct buf names = BUF_INIT;

	for (size_t i = 0; i < NAMES_MAX; i++)
		buf_addf(&names, "%.200s, ", remark->rows[i]->name);
	cmd_note(ctx->cmd, "%zu classes %s: %s; -v names them: %s...", remark->n, what, remark->why,
		 buf_str(&names));
}

void remarks_tell(const struct ctx *ctx, const struct remarks *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->list[i].n <= EACH_MAX || ctx->steps)
			tell_each(ctx, r->what, &r->list[i]);
		else
			tell_together(ctx, r->what, &r->list[i]);
	}
}

struct json *remarks_json(const struct remarks *r, const struct places *places)
{
	struct json *list = json_array();

	for (size_t i = 0; i < r->n; i++) {
		for (size_t k = 0; k < r->list[i].n; k++) {
			const struct class_row *row = r->list[i].rows[k];
			struct json *one = json_object();

			json_put_text(one, "class", row->name);
			json_put_text(one, "loader", places_loader(places, row->loader));
			json_put_text(one, "reason", r->list[i].why);
			json_put(list, NULL, one);
		}
	}
	return list;
}

void remarks_release(struct remarks *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->list[i].why);
		free(r->list[i].rows);
	}
	free(r->list);
}
