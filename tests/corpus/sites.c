/* A class with hooks at every allocation site. */
#include <stdio.h>
#include <string.h>

#include "classfile/code.h"
#include "corpus/rewriting.h"

struct wanted {
	struct rewriting *r;
	uint32_t n;
};

/* Returns the next id, so that small and large ids occur. */
static uint32_t id_of(void *arg, const struct cf_site *site)
{
	struct wanted *wanted = arg;

	(void)site;
	wanted->n++;
	wanted->r->sites++;
	return ++wanted->r->next_id;
}

/* Counts the calls of hooks in a method's code. */
static size_t count_calls(const struct cf_class *class, const struct cf_member *method)
{
	enum { OP_INVOKESTATIC = 0xb8 };
	struct cf_code code;
	struct cf_insn insn;
	struct cf_ref ref;
	size_t n = 0;

	if (!cf_code(method, &code))
		return 0;
	for (uint32_t pc = 0; pc < code.len && cf_insn(code.code, code.len, pc, &insn);
	     pc += insn.len)
		n += insn.opcode == OP_INVOKESTATIC && cf_ref(&class->pool, insn.index, &ref) &&
		     cf_text_is(ref.class, CORPUS_HOOKS);
	return n;
}

/* Checks that all members exist and that those without a call are unchanged. Returns NULL, or the
 * fault. */
static const char *compare(const struct cf_class *old, const struct cf_class *new,
			   const struct cf_sites *sites)
{
	struct cf_members before = cf_methods(old), after = cf_methods(new);
	struct cf_member a, b;
	size_t calls = 0;

	while (cf_next_member(&before, &a)) {
		size_t n;

		if (!cf_next_member(&after, &b) || a.access != b.access ||
		    !cf_text_same(a.name, b.name) || !cf_text_same(a.descriptor, b.descriptor))
			return "a method is missing";
		n = count_calls(new, &b);
		if (n == 0 && !rewriting_is_kept(&a, &b))
			return "a method without hooks is changed";
		calls += n;
	}
	if (cf_next_member(&after, &b))
		return "there is another method";
	if (calls != sites->hooked + sites->roots + sites->kept)
		return "its number of hooks is wrong";
	return NULL;
}

static const char *check_new_class(struct rewriting *r, const struct cf_class *old,
				   const struct cf_sites *sites, const struct cf_output *out)
{
	struct cf_class new;
	struct cf_fault fault, before;
	const char *why = cf_open(&new, out->data, out->len, &r->mem);

	if (why)
		return why;
	why = compare(old, &new, sites);
	if (!why && !rewriting_is_sound(&new, &fault)) {
		if (rewriting_is_sound(old, &before)) {
			rewriting_report("wrong", &new, &fault);
			why = "it is not valid any more";
		} else {
			r->unsound++;
		}
	}
	cf_release(&new);
	return why;
}

bool rewriting_sites(struct rewriting *r, const struct cf_class *class, struct cf_output *out)
{
	struct wanted wanted = { .r = r };
	struct cf_sites sites = { .id = id_of, .arg = &wanted, .made = true,
				  .strings = true, .sun_unsafe = r->sun_unsafe };
	struct cf_text name = cf_name(class);
	const char *why = cf_inject_sites(class, CORPUS_HOOKS, &sites, out), *wrong = NULL;

	r->methods += class->n_methods;
	r->hooked += sites.hooked;
	r->string_ends += sites.kept;
	r->sites_refused += sites.refused;
	if (why)
		printf("refused %.*s: %s\n", (int)name.len, name.data, why);
	if (sites.refused > 0 && r->verbose)
		printf("refused %.*s: a method %s\n", (int)name.len, name.data,
		       cf_refusal_text(sites.why));
	if (out->len > 0)
		wrong = check_new_class(r, class, &sites, out);
	if ((out->len > 0) != (!why && sites.hooked + sites.roots + sites.kept > 0))
		wrong = "there is a class without hooks, or hooks without a class";
	if ((!why && sites.refused == 0 && wanted.n != sites.hooked) ||
	    (wanted.n + sites.kept > 0 && !cf_has_sites(class)))
		wrong = "its allocation sites are reported incorrectly";
	if (wrong) {
		r->wrong++;
		printf("wrong %.*s: %s\n", (int)name.len, name.data, wrong);
	}
	return out->len > 0;
}
