#include "corpus/rewriting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/xalloc.h"
#include "classfile/code.h"

#define TEXT(text) (int)(text).len, (text).data

void rewriting_report(const char *what, const struct cf_class *class,
		    const struct cf_fault *fault)
{
	struct cf_text name = cf_name(class);

	printf("%s %.*s.%.*s%.*s", what, TEXT(name), TEXT(fault->name), TEXT(fault->descriptor));
	if (fault->pc != UINT32_MAX)
		printf(" @%u", fault->pc);
	printf(": %s\n", fault->what);
}

static void report(const char *what, const struct cf_class *class, const struct cf_probe *probe,
		 const char *why)
{
	struct cf_text name = cf_name(class);

	printf("%s %.*s.%.*s%.*s: %s\n", what, TEXT(name), TEXT(probe->name),
	       TEXT(probe->descriptor), why);
}

bool rewriting_is_sound(const struct cf_class *class, struct cf_fault *fault)
{
	*fault = (struct cf_fault){ .pc = UINT32_MAX };
	return cf_check(class, fault) && cf_verify(class, fault);
}

/*
 * HotSpot gives a finalizer to every class with a non-empty finalize() at load time, and to its
 * subclasses: if Object had one, HotSpot would register every object before it is able to
 * (classFileParser.cpp, parse_method). A retransformation does not change that.
 */
static bool is_skipped(const struct cf_class *class, const struct cf_member *method)
{
	return cf_text_is(cf_name(class), "java/lang/Object") &&
	       cf_text_is(method->name, "finalize");
}

static struct cf_probe *make_probes(struct rewriting *r, const struct cf_class *class)
{
	struct cf_probe *probes = xcalloc(class->n_methods + 1u, sizeof(*probes));
	struct cf_members methods = cf_methods(class);
	struct cf_member method;

	for (size_t i = 0; cf_next_member(&methods, &method); i++) {
		probes[i] = (struct cf_probe){ .name = method.name,
					       .descriptor = method.descriptor,
					       .id = r->next_id++,
					       .values = r->values };
		if (is_skipped(class, &method))
			probes[i].name = (struct cf_text){ NULL, 0 };
	}
	return probes;
}

bool rewriting_is_kept(const struct cf_member *old, const struct cf_member *new)
{
	struct cf_attributes a = old->attributes, b = new->attributes;
	struct cf_attribute x, y;

	if (a.left != b.left)
		return false;
	while (cf_next_attribute(&a, &x)) {
		if (!cf_next_attribute(&b, &y) || !cf_text_same(x.name, y.name) ||
		    x.len != y.len || (x.len > 0 && memcmp(x.data, y.data, x.len) != 0))
			return false;
	}
	return true;
}

/* Compares the methods of both classes by their probes. Returns NULL, or the first fault. */
static const char *compare(const struct cf_class *old, const struct cf_class *new,
			   const struct cf_probe *probes, const struct cf_probe **where)
{
	struct cf_members before = cf_methods(old), after = cf_methods(new);
	struct cf_member a, b;
	struct cf_code old_code, new_code;

	for (*where = probes; cf_next_member(&before, &a); (*where)++) {
		if (!cf_next_member(&after, &b) || a.access != b.access ||
		    !cf_text_same(a.name, b.name) || !cf_text_same(a.descriptor, b.descriptor))
			return "it is missing";
		if ((*where)->refused != CF_HOOKED) {
			if (!rewriting_is_kept(&a, &b))
				return "it is refused but changed";
			continue;
		}
		if (!cf_code(&a, &old_code) || !cf_code(&b, &new_code) ||
		    new_code.len <= old_code.len ||
		    new_code.n_handlers < old_code.n_handlers)
			return "it is said to be hooked, and is not";
	}
	return cf_next_member(&after, &b) ? "there is another one after it" : NULL;
}

/* Checks the new class; was_valid says whether the original was valid. */
static void check_new_class(struct rewriting *r, const struct cf_class *old,
			    const struct cf_probe *probes, const struct cf_output *out,
			    bool was_valid)
{
	const struct cf_probe *where = probes;
	struct cf_class new;
	struct cf_fault fault;
	const char *why = cf_open(&new, out->data, out->len, &r->mem);

	if (why) {
		r->wrong++;
		report("wrong", old, probes, why);
		return;
	}
	why = compare(old, &new, probes, &where);
	if (why) {
		r->wrong++;
		report("wrong", old, where, why);
	} else if (was_valid && !rewriting_is_sound(&new, &fault)) {
		r->wrong++;
		rewriting_report("wrong", &new, &fault);
	}
	cf_release(&new);
}

static void count(struct rewriting *r, const struct cf_class *class,
		  const struct cf_probe *probes, const char *why)
{
	for (size_t i = 0; i < class->n_methods; i++) {
		enum cf_refusal refused = probes[i].refused;

		if (!probes[i].name.data)
			continue;
		r->methods++;
		if (why) {
			r->in_refused++;
			continue;
		}
		r->by_refusal[refused]++;
		if (r->verbose && refused > CF_ROOT)
			report("refused", class, &probes[i], cf_refusal_text(refused));
	}
	if (why)
		printf("refused %.*s: %s\n", TEXT(cf_name(class)), why);
}

static bool rewrite_open(struct rewriting *r, const struct cf_class *class, struct cf_output *out)
{
	_cleanup_free_ struct cf_probe *probes = NULL;
	struct cf_fault fault;
	const char *why;
	bool sound;

	if (r->hook_sites)
		return rewriting_sites(r, class, out);
	sound = rewriting_is_sound(class, &fault);
	if (!sound) {
		r->unsound++;
		if (r->verbose)
			rewriting_report("unsound", class, &fault);
	}
	probes = make_probes(r, class);
	why = cf_inject(class, CORPUS_HOOKS, probes, class->n_methods, out);
	count(r, class, probes, why);
	if (out->len == 0)
		return false;
	check_new_class(r, class, probes, out, sound);
	return true;
}

bool rewriting_do(struct rewriting *r, const void *data, size_t len, struct cf_output *out)
{
	size_t blocks = r->mem.blocks;
	struct cf_class class;
	const char *why = cf_open(&class, data, len, &r->mem);
	bool done;

	r->classes++;
	*out = (struct cf_output){ .mem = &r->mem };
	if (why) {
		r->unsound++;
		printf("unsound class file: %s\n", why);
		return false;
	}
	r->by_version[class.major & UINT8_MAX]++;
	done = rewrite_open(r, &class, out);
	if (done) {
		r->rewritten++;
		r->bytes_in += len;
		r->bytes_out += out->len;
	}
	cf_release(&class);
	if (r->mem.blocks != blocks + (out->data != NULL)) {
		r->wrong++;
		printf("wrong: memory is not given back\n");
	}
	return done;
}

/* Passes a float instead of an int to the first hook: sipush becomes fconst_2, nop, nop. */
static bool break_code(const struct cf_class *class, struct cf_output *out)
{
	enum { OP_NOP = 0, OP_FCONST_2 = 0x0d, OP_SIPUSH = 0x11, CODE_AT = 8 };
	struct cf_members methods = cf_methods(class);
	struct cf_member method;
	struct cf_attribute code;
	size_t at;

	while (cf_next_member(&methods, &method)) {
		if (!cf_find_attribute(method.attributes, "Code", &code) ||
		    code.len <= CODE_AT + 3 || code.data[CODE_AT] != OP_SIPUSH)
			continue;
		at = (size_t)(code.data - out->data) + CODE_AT;
		cf_set_u1(out, at, OP_FCONST_2);
		cf_set_u1(out, at + 1, OP_NOP);
		cf_set_u1(out, at + 2, OP_NOP);
		return true;
	}
	return false;
}

bool rewriting_break(struct rewriting *r, struct cf_output *out)
{
	struct cf_class class;
	struct cf_fault fault;
	bool broken;

	if (cf_open(&class, out->data, out->len, &r->mem))
		return false;
	broken = break_code(&class, out);
	if (broken && !rewriting_is_sound(&class, &fault)) {
		r->wrong++;
		rewriting_report("wrong", &class, &fault);
	}
	cf_release(&class);
	return broken;
}

void rewriting_print(const struct rewriting *r)
{
	static const char *const names[] = {
		[CF_HOOKED] = "hooked",
		[CF_NOT_FOUND] = "not-found",
		[CF_NO_CODE] = "no-code",
		[CF_ROOT] = "root",
		[CF_TOO_LONG] = "too-long",
		[CF_FAR_JUMP] = "far-jump",
		[CF_TOO_MANY] = "too-many",
		[CF_MALFORMED] = "malformed",
		[CF_NOT_COMPILED] = "not-compiled",
	};

	printf("classes %zu\nrewritten %zu\nmethods %zu\n", r->classes, r->rewritten, r->methods);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		printf("%s %zu\n", names[i], r->by_refusal[i]);
	printf("sites %zu\nsites-hooked %zu\nsites-refused %zu\nstrings %zu\n", r->sites,
	       r->hooked, r->sites_refused, r->string_ends);
	printf("whole-classes %zu\nunsound %zu\nwrong %zu\n", r->in_refused, r->unsound, r->wrong);
	printf("bytes-in %zu\nbytes-out %zu\n", r->bytes_in, r->bytes_out);
	for (size_t i = 0; i < ARRAY_SIZE(r->by_version); i++) {
		if (r->by_version[i] > 0)
			printf("version-%zu %zu\n", i, r->by_version[i]);
	}
}
