#include "model/redefine/redefinition_members.h"

#include <string.h>

#include "base/xalloc.h"
#include "model/class/javasig.h"

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
	const struct compared_member *const *x = a, *const *y = b;
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

struct compared_member *members_find(const struct members *m, const struct compared_member *like)
{
	struct compared_member **found;

	found = bsearch(&like, m->sorted, m->n, sizeof(*m->sorted), members_compare);
	return found ? *found : NULL;
}

struct compared_member *members_find_name(const struct members *m, struct cf_text name)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!m->all[i].handled && members_text_compare(m->all[i].cf.name, name) == 0)
			return &m->all[i];
	}
	return NULL;
}

void members_match(struct members *running, struct members *new)
{
	for (size_t i = 0; i < running->n; i++) {
		struct compared_member *now = members_find(new, &running->all[i]);

		if (now)
			now->handled = running->all[i].handled = true;
	}
}

/* Members that javac and other tools generate, by the prefix of their names. */
static const struct {
	const char *prefix, *why;
} generated[] = {
	{ "<clinit>", "javac generates it to compute values of static fields" },
	{ "$assertionsDisabled", "javac adds it for the first assert" },
	{ "$VALUES", "javac adds it to an enum" },
	{ "$values", "javac adds it to an enum since JDK 15" },
	{ "$SwitchMap$", "javac adds it for a switch on an enum" },
	{ "$deserializeLambda$", "javac adds it for a lambda that is serializable" },
	{ "$jacoco", "the JaCoCo agent adds it" },
	{ "this$", "javac stores the outer instance in it, since JDK 18 only if it is used" },
	{ "val$", "javac stores a captured variable in it" },
	{ "lambda$", "javac generates it for a lambda: keep the lambdas and their order" },
	{ "access$", "javac generates it for a private member that a nested class uses, "
		     "up to class file version 54" },
};

void members_add(struct buf *line, const char *noun, const struct compared_member *member)
{
	buf_adds(line, noun);
	buf_addc(line, ' ');
	javasig_member_name(line, member->cf.name, member->cf.descriptor);
}

void members_add_generated(struct buf *line, const struct compared_member *member)
{
	for (size_t i = 0; i < ARRAY_SIZE(generated); i++) {
		size_t len = strlen(generated[i].prefix);

		if (member->cf.name.len >= len &&
		    memcmp(member->cf.name.data, generated[i].prefix, len) == 0) {
			buf_addf(line, " (%s)", generated[i].why);
			return;
		}
	}
}
