/*
 * What a dump has to say of classes: why they were not dumped, or what is not in their files.
 * A glob may mean thousands, so those with one reason are told in one line.
 */
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/dump.h"

#define EACH_MAX 5 /* so many have a line each */
#define NAMES_MAX 3 /* of more than that, so many are named */

static struct dump_remark *find(struct dump_remarks *r, const char *why)
{
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->list[i].why, why) == 0)
			return &r->list[i];
	}
	r->list = xgrow(r->list, r->n, &r->cap, sizeof(*r->list));
	r->list[r->n] = (struct dump_remark){ .why = xstrdup(why) };
	return &r->list[r->n++];
}

void dump_remark(struct dump_remarks *r, const char *why, const struct class_row *row)
{
	struct dump_remark *remark = find(r, why);

	remark->rows = xgrow(remark->rows, remark->n, &remark->cap, sizeof(*remark->rows));
	remark->rows[remark->n++] = row;
	r->n_rows++;
}

static void tell_line(const struct ctx *ctx, const struct buf *line)
{
	struct err note = { EXIT_DONE, "" };

	(void)err_set(&note, EXIT_PARTIAL, "%s", buf_str(line));
	cmd_tell(ctx->cmd, &note);
}

static void add_name(struct buf *line, const struct class_row *row)
{
	text_printable(line, row->name, strlen(row->name));
}

static void tell_each(const struct ctx *ctx, const char *what, const struct dump_remark *remark)
{
	for (size_t i = 0; i < remark->n; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT;

		add_name(&line, remark->rows[i]);
		buf_addf(&line, " %s: %s", what, remark->why);
		tell_line(ctx, &line);
	}
}

static void tell_together(const struct ctx *ctx, const char *what,
			  const struct dump_remark *remark)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_addf(&line, "%zu classes %s: %s; -v names them: ", remark->n, what, remark->why);
	for (size_t i = 0; i < NAMES_MAX; i++) {
		add_name(&line, remark->rows[i]);
		buf_adds(&line, ", ");
	}
	buf_adds(&line, "...");
	tell_line(ctx, &line);
}

void dump_tell(const struct ctx *ctx, const struct dump_remarks *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->list[i].n <= EACH_MAX || ctx->steps)
			tell_each(ctx, r->what, &r->list[i]);
		else
			tell_together(ctx, r->what, &r->list[i]);
	}
}

struct json *dump_remarks_json(const struct dump_remarks *r, const struct places *places)
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

void dump_remarks_release(struct dump_remarks *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->list[i].why);
		free(r->list[i].rows);
	}
	free(r->list);
}
