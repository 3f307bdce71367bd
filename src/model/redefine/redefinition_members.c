#include "model/redefinition_members.h"

#include <string.h>

#include "base/xalloc.h"
#include "model/javasig.h"

void members_release(struct members *m)
{
	free(m->all);
	free(m->sorted);
}

int members_text_compare(struct cf_text a, struct cf_text b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int rc = len > 0 ? memcmp(a.data, b.data, len) : 0;

	return rc ? rc : (a.len > b.len) - (a.len < b.len);
}

int members_compare(const void *a, const void *b)
{
	const struct member *const *x = a, *const *y = b;
	int rc = members_text_compare((*x)->cf.name, (*y)->cf.name);

	return rc ? rc : members_text_compare((*x)->cf.descriptor, (*y)->cf.descriptor);
}

void members_sort(struct members *m)
{
	m->sorted = xcalloc(m->n + 1, sizeof(*m->sorted));
	for (size_t i = 0; i < m->n; i++)
		m->sorted[i] = &m->all[i];
	qsort(m->sorted, m->n, sizeof(*m->sorted), members_compare);
}

struct members members_read(struct cf_members list,
			    unsigned (*access)(const struct cf_class *class,
					       const struct cf_member *member),
			    const struct cf_class *class)
{
	struct members m = { .all = xcalloc((size_t)list.left + 1, sizeof(*m.all)) };

	while (cf_next_member(&list, &m.all[m.n].cf)) {
		m.all[m.n].access = access(class, &m.all[m.n].cf);
		m.n++;
	}
	members_sort(&m);
	return m;
}

struct member *members_find(const struct members *m, const struct member *like)
{
	struct member **found;

	found = bsearch(&like, m->sorted, m->n, sizeof(*m->sorted), members_compare);
	return found ? *found : NULL;
}

struct member *members_find_name(const struct members *m, struct cf_text name)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!m->all[i].told && members_text_compare(m->all[i].cf.name, name) == 0)
			return &m->all[i];
	}
	return NULL;
}

void members_match(struct members *running, struct members *new)
{
	for (size_t i = 0; i < running->n; i++) {
		struct member *now = members_find(new, &running->all[i]);

		if (now)
			now->told = running->all[i].told = true;
	}
}

/* What javac, and others, make members of that nobody wrote. */
static const struct {
	const char *prefix, *why;
} made[] = {
	{ "<clinit>", "javac makes it where a static field's value has to be computed" },
	{ "$assertionsDisabled", "javac adds it for the first assert" },
	{ "$VALUES", "javac adds it to an enum" },
	{ "$values", "javac adds it to an enum since JDK 15" },
	{ "$SwitchMap$", "javac adds it for a switch on an enum" },
	{ "$deserializeLambda$", "javac adds it for a lambda that is serializable" },
	{ "$jacoco", "the JaCoCo agent adds it" },
	{ "this$", "javac keeps the outer instance in it, since JDK 18 only where it is used" },
	{ "val$", "javac keeps a variable in it that an inner class uses" },
	{ "lambda$", "javac makes it of a lambda: the same lambdas must stand in the same order" },
	{ "access$", "javac makes it for a private member that a nested class uses, "
		     "up to class file version 54" },
};

void members_add(struct buf *line, const char *noun, const struct member *member)
{
	buf_adds(line, noun);
	buf_addc(line, ' ');
	javasig_member_name(line, member->cf.name, member->cf.descriptor);
}

void members_add_made(struct buf *line, const struct member *member)
{
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		size_t len = strlen(made[i].prefix);

		if (member->cf.name.len >= len &&
		    memcmp(member->cf.name.data, made[i].prefix, len) == 0) {
			buf_addf(line, " (%s)", made[i].why);
			return;
		}
	}
}
