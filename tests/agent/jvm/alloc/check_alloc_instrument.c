/*
 * All classes that allocate arrays are instrumented and restored, also when a call fails, when
 * another agent changes classes, and when classes are loaded.
 *
 * The rewriter is a fake: it changes "code" to "code#".  Code that begins with "plain" has no
 * allocation site, "empty" only seems to have one, "torn" cannot be read, "odd" cannot be
 * instrumented, and "frail" becomes "bad", which fails verification.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake/fake_class.h"
#include "agent/fake/jvm_transform.h"
#include "classfile/inject/inject_sites.h"
#include "jvm/alloc/alloc_exact.h"
#include "jvm/alloc/alloc_instrument.h"

enum { A, B, ARRAY, C, D };

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_alloc_profile profile;

/* Stand-ins for the modules that the instrumentation calls */

uint32_t ag_array_site_new(struct ag_exact *exact, enum ag_array_site_kind kind,
			   const char *signature, size_t signature_len, const char *owner,
			   size_t owner_len)
{
	(void)exact, (void)owner, (void)owner_len;
	ck_assert_int_eq(kind, AG_ARRAY_SITE_ARRAYS);
	ck_assert_uint_eq(signature_len, 7);
	ck_assert_mem_eq(signature, "[[Lp/A;", 7);
	return 5;
}

/* Behaves as with the one glob "p.A[]". */
bool ag_exact_wants(const struct ag_alloc_profile *its, const char *signature, size_t len)
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

	ck_assert_str_eq(hooks, FAKE_HOOKS);
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
	fake_transform_start();
	mem = (struct ag_mem){ .budget = (size_t)1 << 20 };
	jvm = (struct ag_jvm){
		.vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem,
	};
	profile = (struct ag_alloc_profile){ 0 };
	fake_is(OBJECT, "object");
	fake_mark();
}

/* Resets everything except the environment. */
static void again(void)
{
	fake_transform_start();
	fake_mark();
	mem = (struct ag_mem){ .budget = (size_t)1 << 20 };
	profile = (struct ag_alloc_profile){ 0 };
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

static void run_on_all(const char *code)
{
	for (int i = 0; i < N_CLASSES; i++) {
		if (i != ARRAY)
			runs(i, code);
	}
}

static void nothing_is_left(void)
{
	fake_nothing_left();
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert_uint_eq(mem.bytes, 0);
}

static struct ag_alloc_code *in(void)
{
	struct ag_alloc_code *w = ag_alloc_code_install(&jvm, &profile);

	ck_assert_ptr_nonnull(w);
	ck_assert_ptr_null(jvm.err.what);
	return w;
}

static void out(struct ag_alloc_code *w)
{
	jvmtiError code;

	ag_alloc_code_remove(&jvm, w, &code);
	ck_assert_int_eq(code, 0);
	ck_assert_int_eq(fake.counts.environments, fake.marked.environments);
	ag_alloc_code_free(&jvm, w);
	nothing_is_left();
}

static void counts(struct ag_alloc_code *w, uint32_t hooked, uint32_t refused)
{
	uint32_t its_hooked, its_refused;

	ag_alloc_code_count(w, &its_hooked, &its_refused);
	ck_assert_uint_eq(its_hooked, hooked);
	ck_assert_uint_eq(its_refused, refused);
}

static struct {
	unsigned n;
	uint32_t note[40];
	char text[40][100];
	uint64_t count[40];
} heard;

static int hear(void *arg, uint32_t note, const char *text, uint64_t n)
{
	(void)arg;
	ck_assert_uint_lt(heard.n, 40);
	ck_assert_uint_lt(strlen(text), 100);
	heard.note[heard.n] = note;
	memcpy(heard.text[heard.n], text, strlen(text) + 1);
	heard.count[heard.n++] = n;
	return 0;
}

static bool is_noted(struct ag_alloc_code *w, uint32_t note, const char *text, uint64_t n)
{
	heard.n = 0;
	ck_assert_int_eq(ag_alloc_code_notes(w, hear, NULL), 0);
	for (unsigned i = 0; i < heard.n; i++) {
		if (heard.note[i] == note && strcmp(heard.text[i], text) == 0)
			return heard.count[i] == n;
	}
	return false;
}

START_TEST(all_classes_are_instrumented_and_restored)
{
	struct ag_alloc_code *w;

	fake_transform.drops_cache = _i;
	fake_is(D, "plain");
	w = in();
	runs(A, "first#");
	runs(B, "first#");
	runs(C, "first#");
	runs(D, "plain");
	runs(OBJECT, "object#");
	counts(w, 4, 0);
	ck_assert_uint_eq(fake_transform.retransformations, 4);
	ck_assert(is_noted(w, WIRE_ALLOC_OLD_CODE, "p.A.run", 1));
	ck_assert_uint_eq(heard.n, 1);
	out(w);
	runs(A, "first");
	runs(D, "plain");
	runs(OBJECT, "object");
	ck_assert_uint_eq(fake_transform.retransformations, 8);
}
END_TEST

static int count(void *arg, uint32_t note, const char *text, uint64_t n)
{
	ck_assert_uint_eq(note, WIRE_ALLOC_OLD_CODE);
	ck_assert_mem_eq(text, "p.A.m", 5);
	ck_assert_uint_eq(n, 1);
	++*(unsigned *)arg;
	return 0;
}

/* The last stack frame runs the first method again. */
START_TEST(up_to_100_methods_that_run_old_code_are_noted)
{
	static struct fake_method methods[101];
	static char names[101][16];
	static jvmtiFrameInfo frames[102];
	struct ag_alloc_code *w;
	unsigned n = 0;

	for (int i = 0; i < _i; i++) {
		snprintf(names[i], sizeof(names[i]), "m%d", i);
		methods[i] = fake_methods[FAKE_RUN];
		methods[i].name = names[i];
		frames[i].method = (jmethodID)(void *)&methods[i];
	}
	frames[_i] = frames[0];
	fake.stack = frames;
	fake.depth = _i + 1;
	w = in();
	ck_assert_int_eq(ag_alloc_code_notes(w, count, &n), 0);
	ck_assert_uint_eq(n, _i < 100 ? (unsigned)_i : 100);
	out(w);
}
END_TEST

#define MS INT64_C(1000000)

START_TEST(batches_of_jdk_8_become_smaller_if_they_take_long)
{
	struct ag_alloc_code *w = in();
	uint32_t n = AG_ALLOC_CODE_BATCH;

	ck_assert_uint_eq(w->sweep.most, AG_ALLOC_CODE_BATCH);
	/* later JDKs: small batches take as long as large ones */
	for (int i = 0; i < 10; i++)
		ag_alloc_code_adapt(&jvm, w, w->sweep.most, 1000 * MS);
	ck_assert_uint_eq(w->sweep.most, AG_ALLOC_CODE_BATCH);
	fake.release = 1;
	/* many classes: 1 ms for each class of a batch */
	ag_alloc_code_adapt(&jvm, w, 4, 4 * MS);
	ck_assert_uint_eq(w->sweep.most, AG_ALLOC_CODE_BATCH);
	for (int i = 0; i < 10; i++, n = w->sweep.most)
		ag_alloc_code_adapt(&jvm, w, n, MS * n);
	ck_assert_uint_eq(n, 32);
	/* a moment on a busy machine */
	ag_alloc_code_adapt(&jvm, w, n, 200 * MS);
	ck_assert_uint_eq(w->sweep.most, 16);
	ag_alloc_code_adapt(&jvm, w, 16, 16 * MS);
	ck_assert_uint_eq(w->sweep.most, 32);
	/* a busy machine: a sweep of small batches would not end */
	for (int i = 0; i < 10; i++)
		ag_alloc_code_adapt(&jvm, w, w->sweep.most, 1000 * MS);
	ck_assert_uint_eq(w->sweep.most, 16);
	for (int i = 0; i < 10; i++)
		ag_alloc_code_adapt(&jvm, w, w->sweep.most, MS);
	ck_assert_uint_eq(w->sweep.most, AG_ALLOC_CODE_BATCH);
	out(w);
}
END_TEST

/* A class of that name that another loader loads during the sweep must not hide a class. */
START_TEST(class_with_hooks_is_known_by_its_name_and_loader)
{
	struct ag_alloc_code *w = in();
	jobject loader = (jobject)w; /* the fake does not look at it */
	uint64_t key;

	ck_assert_uint_eq(ag_alloc_code_key(w->base.ti, 4711, NULL), 4711);
	fake.hash = 1;
	key = ag_alloc_code_key(w->base.ti, 4711, loader);
	ck_assert_uint_ne(key, 4711);
	ck_assert_uint_eq(ag_alloc_code_key(w->base.ti, 4711, loader), key);
	fake.hash = 2;
	ck_assert_uint_ne(ag_alloc_code_key(w->base.ti, 4711, loader), key);
	fake.fail_at = fake.calls + 1;
	ck_assert_uint_eq(ag_alloc_code_key(w->base.ti, 4711, loader), 0);
	fake.fail_at = 0;
	out(w);
}
END_TEST

/* When a call fails, all classes are restored at the end. */
START_TEST(each_call_may_fail)
{
	struct ag_alloc_code *w;
	jvmtiError code = JVMTI_ERROR_NONE;
	unsigned calls;

	out(in());
	calls = fake.calls;
	ck_assert_uint_gt(calls, 100);
	for (unsigned i = 1; i <= calls; i++) {
		again();
		fake.fail_at = i;
		w = ag_alloc_code_install(&jvm, &profile);
		if (w) {
			ck_assert_ptr_null(jvm.err.what);
			ag_alloc_code_remove(&jvm, w, &code);
			ag_alloc_code_free(&jvm, w);
			ck_assert_int_eq(code, 0);
		} else {
			ck_assert_ptr_nonnull(jvm.err.what);
		}
		run_on_all("first");
		runs(OBJECT, "object");
		nothing_is_left();
	}
}
END_TEST

/* If the JVM exits, all memory is still freed. */
START_TEST(the_jvm_may_exit_at_each_call)
{
	struct ag_alloc_code *w;
	jvmtiError code;
	unsigned calls;

	out(in());
	calls = fake.calls;
	ck_assert_uint_gt(calls, 100);
	for (unsigned i = 1; i <= calls; i++) {
		again();
		fake.fail_at = i;
		fake.leaving = true;
		w = ag_alloc_code_install(&jvm, &profile);
		if (w) {
			ag_alloc_code_remove(&jvm, w, &code);
			ag_alloc_code_free(&jvm, w);
		}
		ck_assert_uint_eq(mem.blocks, 0);
		ck_assert_int_eq(fake.counts.environments, fake.marked.environments);
	}
}
END_TEST

START_TEST(refused_classes_are_noted)
{
	struct ag_alloc_code *w;

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
	ck_assert_uint_eq(fake_transform.retransformations, 1);
	out(w);
	runs(C, "frail");
	ck_assert_uint_eq(fake_transform.retransformations, 2);
}
END_TEST

START_TEST(reasons_beyond_23_are_counted_together)
{
	static char reasons[30][16];
	struct ag_alloc_code *w;

	fake.depth = 0; /* no old code */
	w = in();
	for (int i = 0; i < 60; i++) {
		(void)snprintf(reasons[i % 30], sizeof(reasons[0]), "reason %d", i % 30);
		ag_alloc_code_reason(w, reasons[i % 30], 1);
	}
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED, "reason 0", 2));
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED, "reason 22", 2));
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED, "other reasons", 14));
	ck_assert_uint_eq(heard.n, 24);
	out(w);
}
END_TEST

START_TEST(refused_object_class_is_an_error)
{
	fake_is(OBJECT, "odd");
	ck_assert_ptr_null(ag_alloc_code_install(&jvm, &profile));
	ck_assert_ptr_nonnull(jvm.err.what);
	run_on_all("first");
	runs(OBJECT, "odd");
	nothing_is_left();
}
END_TEST

START_TEST(refused_method_is_noted)
{
	struct ag_alloc_code *w;

	fake_is(A, "wide");
	fake_is(B, "empty"); /* gets no hooks */
	w = in();
	runs(A, "wide#");
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED, "a method would be longer than 65535 bytes", 1));
	out(w);
	runs(A, "wide");
}
END_TEST

START_TEST(globs_select_classes)
{
	struct ag_alloc_code *w;

	profile.wanted.n_globs = 1;
	fake_is(B, "other"); /* has a site of p.B[][] */
	fake_is(C, "flat");  /* has a site of p.B[] */
	fake_is(D, "plain");
	w = in();
	runs(A, "first#"); /* has a site of p.A[][], which allocates p.A[], too */
	runs(B, "other");
	runs(C, "flat");
	runs(OBJECT, "object#");
	ck_assert_uint_eq(fake_transform.retransformations, 2);
	out(w);
	runs(A, "first");
}
END_TEST

static void other_retransforms(void)
{
	fake_transform.before_install = NULL;
	fake_other_retransforms(A);
	fake_other_retransforms(OBJECT);
}

/* The other agent changes classes during a profile, and at its begin (1) or its end (2). */
START_TEST(changes_of_another_agent_are_preserved)
{
	struct ag_alloc_code *w;

	fake_other_starts();
	fake_mark();
	if (_i == 1)
		fake_transform.before_install = other_retransforms;
	w = in();
	runs(A, "first+#");
	other_retransforms();
	runs(A, "first+#");
	runs(OBJECT, "object+#");
	if (_i == 2)
		fake_transform.before_install = other_retransforms;
	out(w);
	runs(A, "first+");
	runs(OBJECT, "object+");
}
END_TEST

/* Loading */

START_TEST(loaded_class_is_instrumented)
{
	struct ag_alloc_code *w;

	fake_transform.drops_cache = _i;
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
	ag_alloc_code_tick(&jvm, w);
	ck_assert_uint_eq(fake_transform.retransformations, 3 + 1);
	out(w);
	runs(B, "new");
	runs(D, "plain");
	ck_assert_uint_eq(fake_transform.retransformations, 3 + 1 + 4);
	fake_load(B, "newer");
	runs(B, "newer");
}
END_TEST

/* A loader without methods of its own is not asked (0); others are asked in the hook (1, 2). */
START_TEST(new_loader_is_asked_for_the_hooks)
{
	struct ag_alloc_code *w;

	fake_transform.loader = true;
	fake_transform.own_methods = _i > 0;
	fake_transform.finds = _i == 1;
	fake_is_absent(C);
	w = in();
	fake_load(C, "new");
	runs(C, _i == 2 ? "new" : "new#");
	ck_assert_uint_eq(fake_transform.asked, _i > 0);
	fake_transform.finds = true;
	for (int i = 0; i < 2; i++) {
		ag_alloc_code_tick(&jvm, w);
		runs(C, "new#");
		ck_assert_uint_eq(fake_transform.asked, _i);
	}
	counts(w, 5, 0);
	out(w);
	runs(C, "new");
}
END_TEST

static void load_in_between(void)
{
	fake_transform.in_loader = NULL;
	fake_load(C, "inner");
}

/* The loader loads p.C again while it is asked for the hooks; it is not asked a second time. */
START_TEST(loader_may_load_while_it_is_asked)
{
	struct ag_alloc_code *w;

	fake_transform.loader = true;
	fake_transform.own_methods = true;
	fake_transform.finds = true;
	fake_transform.in_loader = load_in_between;
	fake_is_absent(C);
	w = in();
	fake_load(C, "new");
	ck_assert_uint_eq(fake_transform.asked, 1);
	runs(C, "new#");
	fake_load(C, "newer");
	ck_assert_uint_eq(fake_transform.asked, 1);
	runs(C, "newer#");
	out(w);
}
END_TEST

/* The capture of another session may have left an exception pending on the loading thread. */
START_TEST(pending_exception_does_not_hide_a_known_loader)
{
	struct ag_alloc_code *w;

	fake_transform.loader = true;
	fake_transform.own_methods = _i > 0;
	fake_transform.finds = true;
	fake_is_absent(C);
	w = in();
	fake_load(C, "new");
	runs(C, "new#");
	fake.exception = true;
	fake_load(C, "newer");
	fake.exception = false;
	runs(C, "newer#");
	fake_load(C, "newest");
	runs(C, "newest#");
	out(w);
	runs(C, "newest");
}
END_TEST

static void load_early(void)
{
	fake_transform.in_loader = NULL;
	fake_load(D, "early");
	runs(D, "early");
}

/* A loader may never return: no class is changed before all loaders have answered. */
START_TEST(loaders_are_asked_before_any_change)
{
	struct ag_alloc_code *w;

	fake_transform.loader = fake_transform.finds = true;
	fake_transform.in_loader = load_early;
	w = in();
	ck_assert_uint_eq(fake_transform.asked, 1);
	runs(C, "first#");
	runs(D, "early#");
	out(w);
}
END_TEST

START_TEST(classes_of_a_loader_without_the_hooks_are_refused)
{
	struct ag_alloc_code *w;

	fake_transform.loader = true;
	fake_transform.own_methods = true;
	w = in();
	runs(C, "first");
	counts(w, 4, 1);
	ck_assert(is_noted(w, WIRE_ALLOC_REFUSED,
			   "their class loader does not find the class with the hooks", 1));
	fake_is_absent(C);
	fake_load(C, "new");
	runs(C, "new");
	ck_assert_uint_eq(fake_transform.asked, 1);
	out(w);
}
END_TEST

static struct ag_alloc_code *looked_at;
static long environments; /* at the last ExceptionCheck(), which ag_quiesce_wait() calls */

static jboolean JNICALL check_exception(JNIEnv *jni)
{
	(void)jni;
	environments = fake.counts.environments;
	return fake.exception;
}

static void out_looked_at(void)
{
	jvmtiError code;

	fake.in_class_loader = NULL;
	fake.other_thread--;
	fake_jni_table.ExceptionCheck = check_exception;
	ag_alloc_code_remove(&jvm, looked_at, &code);
	ck_assert_int_eq(code, 0);
	ag_alloc_code_free(&jvm, looked_at);
	fake.other_thread++;
	ck_assert_uint_eq(profile.left, 1);
	ck_assert_uint_gt(mem.blocks, 0); /* the suspended thread may read the memory */
}

START_TEST(suspended_hook_retains_its_memory)
{
	looked_at = in();
	fake.in_class_loader = out_looked_at;
	fake_other_retransforms(A);
	/* The hook may use the environment during the wait. */
	ck_assert_int_eq(environments, fake.marked.environments + 1);
	ck_assert_int_eq(fake.counts.environments, fake.marked.environments);
	fake_other_retransforms(A);
	run_on_all("first");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/jvm/alloc/alloc_instrument");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, all_classes_are_instrumented_and_restored, 0, 2);
	tcase_add_loop_test(tcase, up_to_100_methods_that_run_old_code_are_noted, 99, 102);
	tcase_add_test(tcase, class_with_hooks_is_known_by_its_name_and_loader);
	tcase_add_test(tcase, batches_of_jdk_8_become_smaller_if_they_take_long);
	tcase_add_test(tcase, each_call_may_fail);
	tcase_add_test(tcase, the_jvm_may_exit_at_each_call);
	tcase_add_test(tcase, refused_classes_are_noted);
	tcase_add_test(tcase, reasons_beyond_23_are_counted_together);
	tcase_add_test(tcase, refused_object_class_is_an_error);
	tcase_add_test(tcase, refused_method_is_noted);
	tcase_add_test(tcase, globs_select_classes);
	tcase_add_loop_test(tcase, changes_of_another_agent_are_preserved, 0, 3);
	tcase_add_loop_test(tcase, loaded_class_is_instrumented, 0, 2);
	tcase_add_loop_test(tcase, new_loader_is_asked_for_the_hooks, 0, 3);
	tcase_add_test(tcase, loader_may_load_while_it_is_asked);
	tcase_add_loop_test(tcase, pending_exception_does_not_hide_a_known_loader, 0, 2);
	tcase_add_test(tcase, loaders_are_asked_before_any_change);
	tcase_add_test(tcase, classes_of_a_loader_without_the_hooks_are_refused);
	tcase_add_test(tcase, suspended_hook_retains_its_memory);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
