#include "model/codediff.h"

#include "base/xalloc.h"
#include "model/running.h"

void codediff_release(struct codediff *diff)
{
	for (size_t i = 0; i < diff->n; i++)
		free(diff->rows[i].method);
	free(diff->rows);
	*diff = (struct codediff){ 0 };
}

static void add_row(struct codediff *diff, enum codediff_kind kind, struct cf_text name,
		    struct cf_text descriptor)
{
	_cleanup_buf_ struct buf method = BUF_INIT;

	javasig_member_name(&method, name, descriptor);
	diff->rows = xgrow(diff->rows, diff->n, &diff->cap, sizeof(*diff->rows));
	diff->rows[diff->n++] = (struct codediff_row){ kind, buf_take(&method) };
}

/* Abstract and native methods have no code on either side. */
static bool is_same(struct running *r, const struct running_method *m,
		    const struct cf_class *file, const struct cf_member *member)
{
	struct cf_code code;
	struct cf_body body;

	if (!cf_code(member, &code))
		return !m->body.code;
	body = cf_body(file, &code);
	return m->body.code && cf_same_code(&m->body, &body, &r->mem) == 1;
}

/* Of a class without a class file, memory tells only the methods with code. */
static bool may_be_untold(const struct running *r, const struct cf_member *member)
{
	struct cf_code code;

	return !r->class && !cf_code(member, &code);
}

static void compare_file(struct codediff *diff, struct running *r, const struct cf_class *file)
{
	struct cf_members left = cf_methods(file);
	struct running_method m;
	struct cf_member member;

	while (cf_next_member(&left, &member)) {
		if (!running_find(r, member.name, member.descriptor, &m)) {
			if (!may_be_untold(r, &member))
				add_row(diff, CODEDIFF_FILE, member.name, member.descriptor);
		} else if (is_same(r, &m, file, &member)) {
			diff->n_same++;
		} else {
			add_row(diff, CODEDIFF_CODE, member.name, member.descriptor);
		}
	}
}

static void add_others(struct codediff *diff, struct running *r, const struct cf_class *file)
{
	struct running_method m;
	struct cf_member member;

	while (running_next(r, &m)) {
		if (!cf_find_member(cf_methods(file), m.member.name, m.member.descriptor,
				    &member))
			add_row(diff, CODEDIFF_MEMORY, m.member.name, m.member.descriptor);
	}
}

static const char *compare(struct codediff *diff, const struct cf_class *class,
			   const struct captured *captured, const struct cf_class *file)
{
	struct running r;
	const char *why = running_open(&r, class, captured);

	if (!why) {
		compare_file(diff, &r, file);
		add_others(diff, &r, file);
	}
	running_release(&r);
	return why;
}

const char *codediff_compare(struct codediff *diff, const struct captured *running,
			     const struct cf_class *file)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_class class;
	const char *why;

	if (running->file.len == 0)
		return compare(diff, NULL, running, file);
	why = cf_open(&class, running->file.data, running->file.len, &mem);
	if (why)
		return why;
	why = compare(diff, &class, running, file);
	cf_release(&class);
	return why;
}

const char *codediff_word(enum codediff_kind kind)
{
	static const char *const words[] = {
		[CODEDIFF_CODE] = "code differs",
		[CODEDIFF_MEMORY] = "only in memory",
		[CODEDIFF_FILE] = "only in the file",
	};

	return words[kind];
}
