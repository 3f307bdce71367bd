#include "model/class/code_diff.h"

#include "base/xalloc.h"
#include "model/class/effective_code.h"

void code_diff_release(struct code_diff *diff)
{
	for (size_t i = 0; i < diff->n; i++)
		free(diff->rows[i].method);
	free(diff->rows);
	*diff = (struct code_diff){ 0 };
}

static void add_row(struct code_diff *diff, enum code_diff_kind kind, struct cf_text name,
		    struct cf_text descriptor)
{
	_cleanup_buf_ struct buf method = BUF_INIT;

	javasig_member_name(&method, name, descriptor);
	diff->rows = xgrow(diff->rows, diff->n, &diff->cap, sizeof(*diff->rows));
	diff->rows[diff->n++] = (struct code_diff_row){ kind, buf_take(&method) };
}

/*
 * Returns true if the method has equivalent code in the running class and in the file.  Two methods
 * without code (abstract, native) are the same.
 */
static bool is_same(struct effective_code *r, const struct effective_method *m,
		    const struct cf_class *file, struct cf_bootstraps *bootstraps,
		    const struct cf_member *member)
{
	struct cf_code code;
	struct cf_body body;

	if (!cf_code(member, &code))
		return !m->body.code;
	body = cf_body(file, &code, bootstraps);
	return m->body.code && cf_code_equal(&m->body, &body, &r->mem) == 1;
}

/*
 * Returns true if the capture cannot show whether the JVM has the method `member` of the file: the
 * capture has no class file, so it lacks methods without code, and `member` has no code.
 */
static bool is_unreported(const struct effective_code *r, const struct cf_member *member)
{
	struct cf_code code;

	return !r->class && !cf_code(member, &code);
}

static void compare_file(struct code_diff *diff, struct effective_code *r,
			 const struct cf_class *file)
{
	struct cf_members left = cf_methods(file);
	struct cf_bootstraps bootstraps;
	struct effective_method m;
	struct cf_member member;

	if (cf_bootstraps_open(&bootstraps, file, &r->mem) < 0)
		xalloc_die();
	while (cf_next_member(&left, &member)) {
		if (!effective_code_find(r, member.name, member.descriptor, &m)) {
			if (!is_unreported(r, &member))
				add_row(diff, CODE_DIFF_FILE, member.name, member.descriptor);
		} else if (is_same(r, &m, file, &bootstraps, &member)) {
			diff->n_same++;
		} else {
			add_row(diff, CODE_DIFF_CODE, member.name, member.descriptor);
		}
	}
	cf_bootstraps_release(&bootstraps);
}

static void add_others(struct code_diff *diff, struct effective_code *r,
		       const struct cf_class *file)
{
	struct cf_member_index in_file;
	struct effective_method m;

	if (cf_member_index_read(&in_file, cf_methods(file), &r->mem) < 0)
		xalloc_die();
	while (effective_code_next(r, &m)) {
		if (!cf_member_index_find(&in_file, m.member.name, m.member.descriptor))
			add_row(diff, CODE_DIFF_MEMORY, m.member.name, m.member.descriptor);
	}
	cf_member_index_release(&in_file);
}

static const char *compare(struct code_diff *diff, const struct cf_class *class,
			   const struct class_capture *captured, const struct cf_class *file)
{
	struct effective_code r;
	const char *why = effective_code_open(&r, class, captured);

	if (!why) {
		compare_file(diff, &r, file);
		add_others(diff, &r, file);
	}
	effective_code_release(&r);
	return why;
}

const char *code_diff_compare(struct code_diff *diff, const struct class_capture *running,
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

const char *code_diff_word(enum code_diff_kind kind)
{
	static const char *const words[] = {
		[CODE_DIFF_CODE] = "code differs",
		[CODE_DIFF_MEMORY] = "only in memory",
		[CODE_DIFF_FILE] = "only in the file",
	};

	return words[kind];
}
