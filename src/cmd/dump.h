/*
 * Parts of the command dump.
 */
#ifndef JTOOL_CMD_DUMP_H
#define JTOOL_CMD_DUMP_H

#include "cmd/roster.h"
#include "render/json.h"

/* What is to be said of classes at the end: those with one reason are told together. */
struct dump_remark {
	char *why;
	const struct class_row **rows;
	size_t n, cap;
};

struct dump_remarks {
	const char *what; /* behind "CLASS" or "N classes": "not dumped" */
	struct dump_remark *list;
	size_t n, cap;
	size_t n_rows; /* in all of them */
};

void dump_remark(struct dump_remarks *r, const char *why, const struct class_row *row);
/* On stderr: each class where there are few or with --verbose, else some of them. */
void dump_tell(const struct ctx *ctx, const struct dump_remarks *r);
/* [{"class","loader","reason"}] */
struct json *dump_remarks_json(const struct dump_remarks *r, const struct places *places);
void dump_remarks_release(struct dump_remarks *r);

/*
 * dump --diff: how the code that these classes run differs from the class files that a FILE, DIR
 * or JAR holds of them.  A difference is a result; EXIT_PARTIAL when a class could not be
 * compared, after all others were.
 */
int dump_diff(const struct ctx *ctx, struct roster *roster, const char *path, struct err *err)
	_must_check_;

#endif
