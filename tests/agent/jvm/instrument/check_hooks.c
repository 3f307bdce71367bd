/*
 * The class with the hooks is defined once for a library, under the first name that is free, with
 * all natives.  A failed definition can be repeated.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "agent/fake/hooks_world.h"
#include "jvm/instrument/hooks.h"

#define N_THREADS 8

/* Stand-ins for the natives.  Only their addresses matter. */
#define HOOK(name, descriptor)       \
	void ag_hook_##name(void);   \
	void ag_hook_##name(void)    \
	{                            \
		ck_abort_msg(#name); \
	}
#include "classfile/inject/hooks.def"
#undef HOOK

static struct ag_mem mem;
static struct ag_jvm jvm;

static void start(void)
{
	hooks_world_start();
	mem = (struct ag_mem){ .budget = 100000 };
	jvm = (struct ag_jvm){ .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
}

static void nothing_is_left(void)
{
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert_uint_eq(mem.bytes, 0);
	fake_nothing_left();
}

START_TEST(first_free_name_is_taken)
{
	hooks_world.taken = 12;
	ck_assert_int_eq(ag_hooks_define(&jvm), 0);
	ck_assert_str_eq(hooks_world.hooks, "java/jtool/Hooks13");
	ck_assert_str_eq(ag_hooks_name(), "java/jtool/Hooks13");
	ck_assert_int_eq(ag_hooks_define(&jvm), 0);
	ck_assert_uint_eq(hooks_world.defined, 1);
	nothing_is_left();
}
END_TEST

START_TEST(every_native_is_registered)
{
	ck_assert_int_eq(ag_hooks_define(&jvm), 0);
#define HOOK(name, descriptor) ck_assert_ptr_eq(fake_native(#name), (void *)ag_hook_##name);
#include "classfile/inject/hooks.def"
#undef HOOK
}
END_TEST

static void fails(void)
{
	ck_assert_int_eq(ag_hooks_define(&jvm), -1);
	ck_assert_ptr_nonnull(jvm.err.what);
	ag_clear_error(&jvm);
	nothing_is_left();
}

START_TEST(definition_is_retried_after_a_failure)
{
	hooks_world.taken = UINT32_MAX;
	fails();
	hooks_world.taken = 0;
	fake.fail_at = fake.calls + 2; /* RegisterNatives */
	fails();
	mem.budget = 100;
	fails();
	mem.budget = 100000;
	ck_assert_int_eq(ag_hooks_define(&jvm), 0);
	nothing_is_left();
}
END_TEST

static pthread_barrier_t barrier;

static void *define(void *arg)
{
	struct ag_mem own_mem = { .budget = 100000 };
	struct ag_jvm own = { .ti = fake_ti(), .jni = arg, .mem = &own_mem };

	(void)pthread_barrier_wait(&barrier);
	ck_assert_int_eq(ag_hooks_define(&own), 0);
	ck_assert_str_eq(ag_hooks_name(), "java/jtool/Hooks1");
	return NULL;
}

START_TEST(concurrent_sessions_define_it_once)
{
	pthread_t threads[N_THREADS];

	ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, N_THREADS), 0);
	for (unsigned i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, define, fake_jni(i)), 0);
	for (unsigned i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	(void)pthread_barrier_destroy(&barrier);
	ck_assert_uint_eq(hooks_world.defined, 1);
	nothing_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/instrument/hooks");
	TCase *t = tcase_create("class"), *threads = tcase_create("threads");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, start, NULL);
	tcase_add_checked_fixture(threads, start, NULL);
	tcase_add_test(t, first_free_name_is_taken);
	tcase_add_test(t, every_native_is_registered);
	tcase_add_test(t, definition_is_retried_after_a_failure);
	tcase_add_test(threads, concurrent_sessions_define_it_once);
	suite_add_tcase(s, t);
	suite_add_tcase(s, threads);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
