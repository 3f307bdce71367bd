/*
 * What is to be said of classes on stderr, when all others are done: why they were left out, or
 * what is not as it seems.  A glob may mean thousands, so those with one reason go together.
 */
#ifndef JTOOL_CMD_REMARKS_H
#define JTOOL_CMD_REMARKS_H

#include "cmd.h"
#include "model/classes.h"
#include "render/json.h"

struct remark {
	char *why;
	const struct class_row **rows;
	size_t n, cap;
};

struct remarks {
	const char *what; /* behind "CLASS" or "N classes": "not dumped" */
	struct remark *list;
	size_t n, cap;
	size_t n_rows; /* in all of them */
};

/* The reason is copied; the row must stay. */
void remarks_add(struct remarks *r, const char *why, const struct class_row *row);
/* Each class where there are few or with --verbose, else some of them. */
void remarks_tell(const struct ctx *ctx, const struct remarks *r);
/* [{"class","loader","reason"}] */
struct json *remarks_json(const struct remarks *r, const struct places *places);
void remarks_release(struct remarks *r);

#endif
