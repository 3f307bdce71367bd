/*
 * Hooks into all classes that make arrays and out of them, whatever fails, whoever else changes
 * classes meanwhile, and whatever is loaded.
 *
 * The rewriter is a fake: "code" becomes "code#", of what begins with "plain" nothing can be
 * hooked, "empty" looks as if something could, "torn" cannot be read, "odd" not be instrumented,
 * and "frail" becomes "bad", which the JVM refuses.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake_class.h"
#include "agent/fake_transform.h"
#include "classfile/inject_sites.h"
#include "jvm/profile_exact.h"
#include "jvm/trace.h"
#include "jvm/trace_state.h"

enum { A, B, ARRAY, C, D };

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_profile profile;
static jclass hidden_class; /* not NULL: of p.C; its loader does not find the hooks */
static long environments, asked;
static void (*when_asked)(void);

/* What it calls */

int ag_hooks_define(struct ag_jvm *own)
{
	(void)own;
	return 0;
}

const char *ag_trace_hooks(void)
{
	return "java/jtool/Hooks1";
}

const char *ag_trace_hidden(struct ag_jvm *own, jclass class)
{
	(void)own, (void)class;
	asked++;
	if (when_asked)
		when_asked();
	return hidden_class ? "hidden" : NULL;
}

uint32_t ag_hooks_place(struct ag_exact *exact, enum ag_place_kind kind, const char *signature,
			size_t signature_len, const char *owner, size_t owner_len)
{
	(void)exact, (void)owner, (void)owner_len;
	ck_assert_int_eq(kind, AG_PLACE_ARRAYS);
	ck_assert_uint_eq(signature_len, 7);
	ck_assert_mem_eq(signature, "[[Lp/A;", 7);
	return 5;
}

/* One glob, of "p.A[]" */
bool ag_exact_wants(const struct ag_profile *its, const char *signature, size_t len)
{
	(void)its;
	return len == 6 && memcmp(signature, "[Lp/A;", 6) == 0;
}

bool cf_has_sites(const struct cf_class *class)
{
	return !fake_begins(class, "plain");
}

const char *cf_inject_sites(const struct cf_class *class, const char *hooks,
			    struct cf_sites *sites, struct cf_output *out)
{
	struct cf_site site = {
		.kind = CF_SITE_ARRAYS, .element = { .data = "[[Lp/A;", .len = 7 },
	};

	ck_assert_str_eq(hooks, "java/jtool/Hooks1");
	if (fake_begins(class, "odd"))
		return "it makes no sense";
	if (fake_begins(class, "wide")) {
		sites->refused = 2;
		sites->why = CF_TOO_LONG;
	}
	if (fake_begins(class, "empty"))
		return NULL;
	if (fake_begins(class, "other"))
		site.element.data = "[[Lp/B;";
	if (fake_begins(class, "flat")) {
		site.kind = CF_SITE_ARRAY;
		site.dimensions = 1;
		site.element = (struct cf_text){ .data = "p/B", .len = 3 };
	}
	if (!fake_begins(class, "object") && sites->id(sites->arg, &site) == 0)
		return NULL;
	if (fake_begins(class, "object") && !sites->made)
		return NULL;
	if (fake_begins(class, "frail"))
		cf_put(out, "bad", 3);
	cf_put(out, class->data, class->len);
	cf_put(out, "#", 1);
	return out->failed ? "no memory" : NULL;
}

/* The test */

static void setup(void)
{
	fake = (struct fake_transform){ 0 };
	mem = (struct ag_mem){ .budget = (size_t)1 << 20 };
	jvm = (struct ag_jvm){
		.vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(), .mem = &mem,
	};
	profile = (struct ag_profile){ 0 };
	fake_is(OBJECT, "object");
	environments = fake.environments;
	asked = 0;
	when_asked = NULL;
}

/* The same once more, with the environment that is there. */
static void again(void)
{
	fake = (struct fake_transform){ 0 };
	environments = 0;
	mem = (struct ag_mem){ .budget = (size_t)1 << 20 };
	profile = (struct ag_profile){ 0 };
	jvm.stopping = false;
	jvm.err = (struct ag_error){ 0 };
	for (int i = 0; i < N_CLASSES; i++)
		fake_is(i, "first");
	fake_is(OBJECT, "object");
}

static void runs(int class, const char *code)
{
	ck_assert_msg(strcmp(fake_running(class), code) == 0,
		      "'%s' runs in class %d, not '%s'; the call that fails is %u",
		      fake_running(class), class, code, fake.fail_at);
}

static void all_run(const char *code)
{
	for (int i = 0; i < N_CLASSES; i++) {
		if (i != ARRAY)
			runs(i, code);
	}
}

static void nothing_is_left(void)
{
	ck_assert(!fake.exception);
	ck_assert_int_eq(fake.tags, 0);
	ck_assert_int_eq(fake.blocks, 0);
	ck_assert_int_eq(fake.references, 0);
	ck_assert_int_eq(fake.environments, environments);
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert_uint_eq(mem.bytes, 0);
}

static struct ag_weaving *in(void)
{
	struct ag_weaving *w = ag_weaving_in(&jvm, &profile);

	ck_assert_ptr_nonnull(w);
	ck_assert_ptr_null(jvm.err.what);
	return w;
}

static void out(struct ag_weaving *w)
{
	jvmtiError code;

	ag_weaving_out(&jvm, w, &code);
	ck_assert_int_eq(code, 0);
	ck_assert_int_eq(fake.environments, environments);
	ag_weaving_free(&jvm, w);
	nothing_is_left();
}

static void counts(struct ag_weaving *w, uint32_t hooked, uint32_t refused)
{
	uint32_t its_hooked, its_refused;

	ag_weaving_count(w, &its_hooked, &its_refused);
	ck_assert_uint_eq(its_hooked, hooked);
	ck_assert_uint_eq(its_refused, refused);
}

static struct {
	unsigned n;
	uint32_t note[10];
	char text[10][100];
	uint64_t count[10];
} heard;

static int hear(void *arg, uint32_t note, const char *text, uint64_t n)
{
	(void)arg;
	ck_assert_uint_lt(heard.n, 10);
	ck_assert_uint_lt(strlen(text), 100);
	heard.note[heard.n] = note;
	memcpy(heard.text[heard.n], text, strlen(text) + 1);
	heard.count[heard.n++] = n;
	return 0;
}

static bool is_noted(struct ag_weaving *w, uint32_t note, const char *text, uint64_t n)
{
	heard.n = 0;
	ck_assert_int_eq(ag_weaving_notes(w, hear, NULL), 0);
	for (unsigned i = 0; i < heard.n; i++) {
		if (heard.note[i] == note && strcmp(heard.text[i], text) == 0)
			return heard.count[i] == n;
	}
	return false;
}

START_TEST(into_all_and_out)
{
	struct ag_weaving *w;

	fake.drops_cache = _i;
	fake_is(D, "plain");
	w = in();
	runs(A, "first#");
	runs(B, "first#");
	runs(C, "first#");
	runs(D, "plain");
	runs(OBJECT, "object#");
	counts(w, 4, 0);
	ck_assert_uint_eq(fake.retransformations, 4);
	ck_assert(is_noted(w, WIRE_ALLOC_OLD_CODE, "p.A.run", 1));
	ck_assert_uint_eq(heard.n, 1);
	out(w);
	runs(A, "first");
	runs(D, "plain");
	runs(OBJECT, "object");
	ck_assert_uint_eq(fake.retransformations, 8);
}
END_TEST

/* One call fails, whichever: then all is as it was, at last. */
START_TEST(a_call_fails)
{
	struct ag_weaving *w;
	jvmtiError code = JVMTI_ERROR_NONE;
	unsigned calls;

	out(in());
	calls = fake.calls;
	for (unsigned i = 1; i <= calls; i++) {
		again();
		fake.fail_at = i;
		w = ag_weaving_in(&jvm, &profile);
		if (w) {
			ck_assert_ptr_null(jvm.err.what);
			ag_weaving_out(&jvm, w, &code);
			ag_weaving_free(&jvm, w);
			ck_assert_int_eq(code, 0);
		} else {
			ck_assert_ptr_nonnull(jvm.err.what);
		}
		all_run("first");
		runs(OBJECT, "object");
		nothing_is_left();
	}
}
END_TEST

/* The JVM leaves: nothing more is asked of it. */
START_TEST(the_jvm_leaves)
{
	struct ag_weaving *w;
	jvmtiError code;
	unsigned calls;

	out(in());
	calls = fake.calls;
	for (unsigned i = 1; i <= calls; i++) {
		again();
		fake.fail_at = i;
		fake.leaving = true;
		w = ag_weaving_in(&jvm, &profile);
		if (w) {
			ag_weaving_out(&jvm, w, &code);
			ag_weaving_free(&jvm, w);
		}
		ck_assert_uint_eq(mem.blocks, 0);
		ck_assert_int_eq(fake.environments, environments);
	}
}
END_TEST

START_TEST(what_cannot_be_hooked)
{
	struct ag_weaving *w;

	fake_is(A, "torn");
	fake_is(B, "odd");
	fake_is(C, "frail");
	fake_is(D, "empty");
	w = in();
	runs(A, "torn");
	runs(B, "odd");
	runs(C, "frail");
	runs(D, "empty");
	runs(OBJECT, "object#");
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED, "the file ends too early", 1));
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED, "it makes no sense", 1));
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED, "the JVM's verifier refuses their code", 1));
	ck_assert_uint_eq(fake.retransformations, 1);
	out(w);
	runs(C, "frail");
	ck_assert_uint_eq(fake.retransformations, 2);
}
END_TEST

START_TEST(object_cannot_be_hooked)
{
	fake_is(OBJECT, "odd");
	ck_assert_ptr_null(ag_weaving_in(&jvm, &profile));
	ck_assert_ptr_nonnull(jvm.err.what);
	all_run("first");
	runs(OBJECT, "odd");
	nothing_is_left();
}
END_TEST

START_TEST(a_method_cannot_be_hooked)
{
	struct ag_weaving *w;

	fake_is(A, "wide");
	fake_is(B, "empty"); /* so that all are retransformed again */
	w = in();
	runs(A, "wide#");
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED, "a method would be longer than 65535 bytes", 1));
	out(w);
	runs(A, "wide");
}
END_TEST

START_TEST(globs)
{
	struct ag_weaving *w;

	profile.wanted.n_globs = 1;
	fake_is(B, "other"); /* of p.B[][] */
	fake_is(C, "flat");  /* p.B[] */
	fake_is(D, "plain");
	w = in();
	runs(A, "first#"); /* p.A[][], and with it p.A[] */
	runs(B, "other");
	runs(C, "flat");
	runs(OBJECT, "object#");
	ck_assert_uint_eq(fake.retransformations, 2);
	out(w);
	runs(A, "first");
}
END_TEST

/* While hooks are in, and while they are put in and taken out. */
static void other_retransforms(void)
{
	fake.meanwhile = NULL;
	fake_other_retransforms(A);
	fake_other_retransforms(OBJECT);
}

START_TEST(another_agent)
{
	struct ag_weaving *w;

	fake_other_comes();
	environments++;
	if (_i == 1)
		fake.meanwhile = other_retransforms;
	w = in();
	runs(A, "first+#");
	other_retransforms();
	runs(A, "first+#");
	runs(OBJECT, "object+#");
	if (_i == 2)
		fake.meanwhile = other_retransforms;
	out(w);
	runs(A, "first+");
	runs(OBJECT, "object+");
}
END_TEST

/* Loading */

START_TEST(a_class_is_loaded)
{
	struct ag_weaving *w;

	fake.drops_cache = _i;
	fake_is_absent(B);
	fake_is_absent(D);
	w = in();
	fake_load(B, "new");
	fake_load(D, "plain");
	runs(B, "new#");
	runs(D, "plain");
	counts(w, 4, 0);
	fake_other_retransforms(B);
	runs(B, "new#");
	ag_weaving_tick(&jvm, w);
	ck_assert_uint_eq(fake.retransformations, 3 + 1);
	out(w);
	runs(B, "new");
	runs(D, "plain");
	ck_assert_uint_eq(fake.retransformations, 3 + 1 + 4);
	fake_load(B, "newer");
	runs(B, "newer");
}
END_TEST

/* Of a loader that has not been met: it says so itself, or is asked, here or later. */
START_TEST(a_loader_is_met)
{
	struct ag_weaving *w;

	fake.loader = true;
	fake.own_methods = _i > 0;
	fake.finds = _i == 1;
	fake_is_absent(C);
	w = in();
	fake_load(C, "new");
	runs(C, _i == 2 ? "new" : "new#");
	ck_assert_uint_eq(fake.asked, _i > 0);
	ag_weaving_tick(&jvm, w);
	runs(C, "new#");
	ck_assert_int_eq(asked, _i == 2);
	ag_weaving_tick(&jvm, w);
	ck_assert_int_eq(asked, _i == 2);
	counts(w, 5, 0);
	out(w);
	runs(C, "new");
}
END_TEST

static void load_in_between(void)
{
	fake.asking = NULL;
	fake_load(C, "inner");
}

/* It loads another class to answer, for which it is not asked again. */
START_TEST(a_loader_loads_when_asked)
{
	struct ag_weaving *w;

	fake.loader = true;
	fake.own_methods = true;
	fake.finds = true;
	fake.asking = load_in_between;
	fake_is_absent(C);
	w = in();
	fake_load(C, "new");
	ck_assert_uint_eq(fake.asked, 1);
	runs(C, "new#");
	fake_load(C, "newer");
	ck_assert_uint_eq(fake.asked, 1);
	runs(C, "newer#");
	out(w);
}
END_TEST

static void load_early(void)
{
	fake_load(D, "early");
	runs(D, "early");
}

/* It may have to wait for ever: nothing is changed by then. */
START_TEST(loaders_are_asked_first)
{
	struct ag_weaving *w;

	fake.loader = true;
	when_asked = load_early;
	w = in();
	ck_assert_int_eq(asked, 1);
	runs(C, "first#");
	runs(D, "early#");
	out(w);
}
END_TEST

START_TEST(a_loader_is_blind)
{
	struct ag_weaving *w;
	jclass ref = fake_class(C);

	(*fake_jni())->DeleteLocalRef(fake_jni(), ref);
	hidden_class = ref;
	fake.loader = true;
	fake.own_methods = true;
	w = in();
	runs(C, "first");
	counts(w, 4, 1);
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED,
			   "their class loader does not find the class with the hooks", 1));
	fake_is_absent(C);
	fake_load(C, "new");
	runs(C, "new");
	ck_assert_uint_eq(fake.asked, 0);
	hidden_class = NULL;
	out(w);
}
END_TEST

static struct ag_weaving *looked_at;

static void out_looked_at(void)
{
	jvmtiError code;

	fake.suspended = NULL;
	fake.other_thread--;
	ag_weaving_out(&jvm, looked_at, &code);
	ck_assert_int_eq(code, 0);
	ag_weaving_free(&jvm, looked_at);
	fake.other_thread++;
	ck_assert_uint_eq(profile.left, 1);
	ck_assert_uint_gt(mem.blocks, 0); /* it is left to the thread */
}

START_TEST(a_thread_is_suspended_in_the_hook)
{
	looked_at = in();
	fake.suspended = out_looked_at;
	fake_other_retransforms(A);
	ck_assert_int_eq(fake.environments, environments);
	fake_other_retransforms(A);
	all_run("first");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/profile_weave");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, into_all_and_out, 0, 2);
	tcase_add_test(tcase, a_call_fails);
	tcase_add_test(tcase, the_jvm_leaves);
	tcase_add_test(tcase, what_cannot_be_hooked);
	tcase_add_test(tcase, object_cannot_be_hooked);
	tcase_add_test(tcase, a_method_cannot_be_hooked);
	tcase_add_test(tcase, globs);
	tcase_add_loop_test(tcase, another_agent, 0, 3);
	tcase_add_loop_test(tcase, a_class_is_loaded, 0, 2);
	tcase_add_loop_test(tcase, a_loader_is_met, 0, 3);
	tcase_add_test(tcase, a_loader_loads_when_asked);
	tcase_add_test(tcase, loaders_are_asked_first);
	tcase_add_test(tcase, a_loader_is_blind);
	tcase_add_test(tcase, a_thread_is_suspended_in_the_hook);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
