/*
 * Sampling profiles in a fake JVM: the weights of samples, sites, live objects, and that a profile
 * leaves nothing in the JVM when a call fails or a callback is in flight.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake/fake_time.h"
#include "agent/fake/jvm_heap.h"
#include "jvm/alloc/alloc_state.h"

#define MEMORY ((size_t)1 << 20)
#define OBJECTS 64
#define SESSION fake_jni(0)
#define APPLICATION fake_jni(1)

static struct ag_mem mem = { .budget = (size_t)8 << 20 };
static struct ag_jvm jvm;

/* Two classes have the same name, and more have the same hash. */
static struct fake_object classes[16];
static struct fake_object objects[OBJECTS], thread;
static const char *const signatures[] = {
	"Lp/C0;", "Lp/C1;", "Lp/C2;", "Lp/C3;", "Lp/C4;", "Lp/C5;", "Lp/C6;", "Lp/C7;",
};
static const jvmtiFrameInfo stack[] = {
	{ (jmethodID)8, 0 }, { (jmethodID)16, 1 }, { (jmethodID)24, 2 },
};

/* Returns the environment of the last profile, which is created after the session's. */
static struct fake_environment *its_environment(void)
{
	size_t i = FAKE_ENVIRONMENTS - 1;

	while (i > 0 && !fake_environment_at(i)->valid)
		i--;
	return fake_environment_at(i);
}

static jint set_interval;
static jvmtiInterface_1 all_functions; /* the fake JVM's; the test replaces some */

static jvmtiError JNICALL set_heap_sampling_interval(jvmtiEnv *ti, jint interval)
{
	(void)ti;
	FAKE_TI_FAILS();
	set_interval = interval;
	return JVMTI_ERROR_NONE;
}

static void collect(void)
{
	if (fake_enabled(its_environment(), JVMTI_EVENT_GARBAGE_COLLECTION_FINISH))
		its_environment()->callbacks.GarbageCollectionFinish((jvmtiEnv *)its_environment());
}

static jvmtiError JNICALL force_collection(jvmtiEnv *ti)
{
	(void)ti;
	FAKE_TI_FAILS();
	fake_heap.collections++;
	collect();
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL iterate(jvmtiEnv *ti, jint filter, jclass class,
				  const jvmtiHeapCallbacks *callbacks, const void *user)
{
	ck_assert_int_eq(filter, JVMTI_HEAP_FILTER_UNTAGGED);
	return all_functions.IterateThroughHeap(ti, filter, class, callbacks, user);
}

/* Reports two references to each tagged object. */
static jvmtiError JNICALL follow(jvmtiEnv *ti, jint filter, jclass class, jobject from,
				 const jvmtiHeapCallbacks *callbacks, const void *user)
{
	(void)ti, (void)class, (void)from;
	FAKE_TI_FAILS();
	ck_assert_int_eq(filter, JVMTI_HEAP_FILTER_UNTAGGED);
	for (int i = 0; i < 2 * OBJECTS; i++) {
		struct fake_object *o = &objects[i % OBJECTS];

		ck_assert_int_ge(o->tag, 0);
		if (o->tag)
			ck_assert_int_eq(callbacks->heap_reference_callback(
				JVMTI_HEAP_REFERENCE_FIELD, NULL, 0, 0, o->size, &o->tag, NULL, -1,
				(void *)(uintptr_t)user), JVMTI_VISIT_OBJECTS);
	}
	return JVMTI_ERROR_NONE;
}

/* Stand-ins for exact profiles */
int ag_exact_on(struct ag_jvm *j, struct ag_alloc_profile *profile)
{
	(void)profile;
	return ag_fail(j, "count", "not here");
}

void ag_exact_tick(struct ag_jvm *j, struct ag_alloc_profile *profile)
{
	(void)j, (void)profile;
	ck_abort_msg("it never began");
}

void ag_exact_off(struct ag_jvm *j, struct ag_alloc_profile *profile, jvmtiError *code)
{
	(void)j, (void)profile, (void)code;
	ck_abort_msg("it never began");
}

void ag_exact_merge(struct ag_alloc_profile *profile)
{
	(void)profile;
	ck_abort_msg("it never began");
}

void ag_exact_state(const struct ag_alloc_profile *profile, struct ag_alloc_profile_state *state)
{
	(void)profile, (void)state;
}

int ag_exact_notes(const struct ag_alloc_profile *profile, ag_alloc_profile_note_fn *tell,
		   void *arg)
{
	(void)profile, (void)tell, (void)arg;
	return 0;
}

void ag_exact_let_go(struct ag_exact *exact)
{
	(void)exact;
}

void ag_exact_free(struct ag_jvm *j, struct ag_alloc_profile *profile)
{
	(void)j, (void)profile;
}

/* Tests */

static void start(void)
{
	fake_add_classes();
	fake_add_threads();
	fake_add_environments();
	fake_add_heap();
	all_functions = fake_ti_table;
	fake_ti_table.FollowReferences = follow;
	fake_ti_table.ForceGarbageCollection = force_collection;
	fake_ti_table.IterateThroughHeap = iterate;
	fake_ti_table.SetHeapSamplingInterval = set_heap_sampling_interval;
	fake = (struct fake_jvm){ .release = 17, .current_thread = &thread, .named_threads = true,
		.stack = stack, .depth = 3 };
	fake_heap.collections = 0;
	fake_heap_clear();
	for (int i = 0; i < 16; i++)
		classes[i] = (struct fake_object){ .signature = signatures[i % 8], .hash = i % 4 };
	for (int i = 0; i < OBJECTS; i++) {
		objects[i] = (struct fake_object){ .len = -1 };
		fake_heap_put(&objects[i]);
	}
	jvm = (struct ag_jvm){ .vm = fake_vm(), .ti = fake_ti(), .jni = SESSION, .mem = &mem };
	fake_mark();
}

static void nothing_is_left(void)
{
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert_uint_eq(jvm.globals, 0);
	ck_assert(!fake_has_capabilities(fake_environment(fake_ti())));
	fake_nothing_left();
}

static struct ag_alloc_profile *begin(uint32_t flags, uint64_t interval)
{
	const struct ag_alloc_profile_wanted wanted = {
		.flags = flags,
		.interval = interval,
		.depth = 64,
		.memory = MEMORY,
		.age = 1,
	};

	return ag_alloc_profile_begin(&jvm, &wanted);
}

static void sample(JNIEnv *jni, size_t object, size_t class, jlong size)
{
	its_environment()->callbacks.SampledObjectAlloc((jvmtiEnv *)its_environment(), jni,
							(jthread)&thread, (jobject)&objects[object],
							(jclass)&classes[class], size);
}

static void allocate(size_t object, size_t class, jlong size)
{
	objects[object].size = size;
	if (fake_enabled(its_environment(), JVMTI_EVENT_SAMPLED_OBJECT_ALLOC))
		sample(APPLICATION, object, class, size);
}

static struct ag_alloc_profile_state state_of(const struct ag_alloc_profile *profile)
{
	struct ag_alloc_profile_state state;

	ag_alloc_profile_state(profile, &state);
	return state;
}

static void finish(struct ag_alloc_profile *profile)
{
	jvmtiError code;

	(void)ag_alloc_profile_end(&jvm, profile, false, &code);
	ag_alloc_profile_free(&jvm, profile);
}

START_TEST(weights_are_right)
{
	static const uint64_t intervals[] = {
		1, 2, 7, 100, 4096, 65536, 500000, 524288, 1000000, INT32_MAX,
	};

	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		for (uint64_t size = 8; size <= UINT64_C(64) << 30; size += size / 3 + 1) {
			double interval = (double)intervals[i];
			double p = -expm1(-(double)size / interval);
			struct ag_weight w = ag_sample_weight(size, intervals[i]);
			double n = 256 / p, bytes = (double)size / p;

			ck_assert(fabs((double)w.objects_256 - n) <= 0.5 + n * 1e-9);
			ck_assert(fabs((double)w.bytes - bytes) <= 0.5 + bytes * 1e-9);
		}
	}
}
END_TEST

START_TEST(samples_become_sites)
{
	struct ag_alloc_profile *profile = begin(0, 1 << 20);
	struct ag_weight one = ag_sample_weight(24, 1 << 20);
	struct ag_alloc_site site;

	ck_assert_ptr_nonnull(profile);
	ck_assert_int_eq(set_interval, 1 << 20);
	allocate(1, 1, 24);
	allocate(2, 1, 24);
	allocate(3, 5, 24);  /* another class with the same hash */
	allocate(4, 9, 24);  /* another class with the same name as the first */
	sample(SESSION, 5, 1, 24);
	ck_assert_uint_eq(state_of(profile).samples, 4);
	ck_assert_uint_eq(state_of(profile).bytes, 4 * one.bytes);
	ck_assert_uint_eq(state_of(profile).kinds, 2);
	ck_assert_uint_eq(state_of(profile).sites, 2);
	ck_assert_uint_eq(state_of(profile).dropped, 0);
	ck_assert(ag_alloc_site(profile, 0, &site));
	ck_assert_str_eq(ag_alloc_class(profile, site.kind), "Lp/C1;");
	ck_assert_uint_eq(site.samples, 3);
	ck_assert_uint_eq(site.objects, (3 * one.objects_256 + 128) / 256);
	ck_assert_uint_eq(site.n_frames, 3);
	ck_assert(!ag_alloc_site(profile, 2, &site));
	ck_assert_ptr_null(ag_alloc_class(profile, 2));
	finish(profile);
	ck_assert_int_eq(set_interval, 512 << 10); /* the default of the JVM */
	nothing_is_left();
}
END_TEST

START_TEST(live_objects_are_counted)
{
	struct ag_alloc_profile *profile = begin(WIRE_ALLOC_LIVE, 1 << 20);
	struct ag_weight old = ag_sample_weight(100, 1 << 20);
	struct ag_alloc_site site;
	jvmtiError code;

	ck_assert_ptr_nonnull(profile);
	allocate(1, 1, 100);
	allocate(2, 1, 100);
	allocate(3, 1, 100);
	collect();
	allocate(4, 1, 100); /* it is younger than the last collection */
	objects[2].tag = 0; /* object 2 was collected */
	ck_assert_int_eq(ag_alloc_profile_peek(&jvm, profile, true), 0);
	ck_assert_uint_eq(state_of(profile).collections, 1);
	ck_assert_int_eq(ag_alloc_profile_peek(&jvm, profile, true), 0);
	ck_assert(ag_alloc_site(profile, 0, &site));
	ck_assert_uint_eq(site.live_bytes, 2 * old.bytes);
	ck_assert_int_eq(ag_alloc_profile_end(&jvm, profile, true, &code), 0);
	ck_assert_int_eq(code, JVMTI_ERROR_NONE);
	ck_assert_uint_eq(its_environment()->events, 0);
	ck_assert(ag_alloc_site(profile, 0, &site));
	ck_assert_uint_eq(site.samples, 4);
	ck_assert_uint_eq(site.live_bytes, 2 * old.bytes);
	ck_assert_uint_eq(site.live_objects, (2 * old.objects_256 + 128) / 256);
	ck_assert_uint_eq(state_of(profile).collections, 1);
	ck_assert_uint_eq(fake_heap.collections, 3);
	ag_alloc_profile_free(&jvm, profile);
	nothing_is_left();
}
END_TEST

/* At the exit, no collection runs, and an object with several referrers counts once. */
START_TEST(reachable_objects_are_live_at_exit)
{
	struct ag_alloc_profile *profile = begin(WIRE_ALLOC_LIVE, 1 << 20);
	struct ag_alloc_site site;

	allocate(1, 1, 100);
	collect();
	ag_alloc_profile_dying(profile);
	ck_assert_int_eq(ag_alloc_profile_peek(&jvm, profile, true), 0);
	ck_assert_uint_eq(fake_heap.collections, 0);
	ck_assert(ag_alloc_site(profile, 0, &site));
	ck_assert_uint_eq(site.live_bytes, ag_sample_weight(100, 1 << 20).bytes);
	finish(profile);
	nothing_is_left();
}
END_TEST

static void wait_a_tick(struct ag_alloc_profile *profile)
{
	int64_t until = ag_now_ns() + 110000000;

	while (ag_now_ns() < until)
		;
	ag_alloc_profile_tick(&jvm, profile);
}

/* A sample is weighted by the interval that was set when the gap before it was drawn. */
START_TEST(interval_adapts_to_the_rate)
{
	struct ag_alloc_profile *profile = begin(WIRE_ALLOC_LIVE, 0);
	struct ag_weight first = ag_sample_weight(24, 512 << 10);
	struct ag_weight then = ag_sample_weight(24, 4096);
	struct ag_alloc_site site;
	jvmtiError code;

	ck_assert_int_eq(set_interval, 512 << 10);
	allocate(1, 1, 24);
	wait_a_tick(profile);
	/* The rate allows a shorter interval: 8192 if less than 128 ms have passed, else 4096. */
	ck_assert(set_interval == 8192 || set_interval == 4096);
	wait_a_tick(profile);
	ck_assert_int_eq(set_interval, 4096);
	ck_assert_uint_eq(state_of(profile).interval, 4096);
	allocate(2, 1, 24);
	ck_assert_uint_eq(state_of(profile).bytes, 2 * first.bytes);
	allocate(3, 1, 24);
	ck_assert_uint_eq(state_of(profile).bytes, 2 * first.bytes + then.bytes);
	collect();
	/* A burst of allocations increases the interval at once. */
	for (int i = 0; i < 50000; i++)
		allocate(4, 1, 24);
	ck_assert_int_eq(set_interval, 512 << 10);
	objects[4].tag = 0;
	ck_assert_int_eq(ag_alloc_profile_end(&jvm, profile, true, &code), 0);
	ck_assert(ag_alloc_site(profile, 0, &site));
	ck_assert_uint_eq(site.live_bytes, 2 * first.bytes + then.bytes);
	ag_alloc_profile_free(&jvm, profile);
	nothing_is_left();
}
END_TEST

START_TEST(missing_sampling_is_explained)
{
	fake.release = 1;
	fake.unavailable.can_generate_sampled_object_alloc_events = 1;
	ck_assert_ptr_null(begin(0, 1));
	ck_assert_int_eq(jvm.err.code, JVMTI_ERROR_NOT_AVAILABLE);
	ck_assert_str_eq(jvm.err.what, "AddCapabilities");
	ck_assert_ptr_nonnull(strstr(jvm.err.why, "JDK 11"));
	nothing_is_left();
	ag_clear_error(&jvm);
	ck_assert_ptr_null(begin(WIRE_ALLOC_EXACT, 1));
	ck_assert_ptr_nonnull(jvm.err.what);
	nothing_is_left();
}
END_TEST

/* While a thread is suspended in a callback, only the memory that it may read is retained. */
static struct ag_alloc_profile *ending;

static void end_it(void)
{
	fake.in_stack_trace = NULL;
	finish(ending);
}

START_TEST(suspended_callback_retains_its_memory)
{
	struct ag_alloc_profile *next;
	struct ag_mem before;

	ending = begin(0, 4096);
	fake.in_stack_trace = end_it;
	allocate(1, 1, 24);
	ck_assert_uint_eq(fake_time.ms, 3000);
	ck_assert_uint_eq(ending->left, 1);
	ck_assert_uint_eq(ending->samples, 1);
	ck_assert_uint_eq(fake.counts.weak, 1);
	ck_assert_uint_eq(jvm.globals, 1); /* the session counts the reference */
	ck_assert(!fake_has_capabilities(its_environment()));
	ck_assert_uint_eq(its_environment()->events, 0);
	ck_assert_uint_gt(mem.blocks, 0);
	before = mem;
	next = begin(0, 4096);
	allocate(1, 1, 24);
	ck_assert_uint_eq(next->samples, 1);
	finish(next);
	ck_assert_uint_eq(mem.bytes, before.bytes);
	ck_assert_uint_eq(jvm.globals, 1);
	ag_alloc_classes_release(ending->kinds, SESSION);
	jvm.globals = ending->globals;
	fake.counts.environments--;
	ag_arena_release(&ending->arena, &mem);
	ag_free(&mem, ending);
	nothing_is_left();
}
END_TEST

static bool survives(unsigned fail_at, uint64_t interval)
{
	struct ag_alloc_profile *profile;
	jvmtiError code;

	start();
	fake.fail_at = fail_at;
	profile = begin(WIRE_ALLOC_LIVE, interval);
	if (!profile)
		ck_assert_ptr_nonnull(jvm.err.what);
	for (size_t i = 1; profile && i < 6; i++)
		allocate(i, i, 24);
	if (profile) {
		struct ag_alloc_profile_state state = state_of(profile);

		ck_assert_uint_ge(state.samples + state.dropped, 5);
		ck_assert(ag_alloc_profile_end(&jvm, profile, true, &code) == 0 || jvm.err.what);
		ck_assert(!fake.exception);
		ag_alloc_profile_free(&jvm, profile);
	}
	nothing_is_left();
	return fake.calls < fail_at;
}

START_TEST(each_call_may_fail)
{
	for (unsigned chosen = 0; chosen < 2; chosen++) {
		unsigned at = 0;

		while (!survives(at, chosen ? 0 : 4096))
			at++;
		ck_assert_uint_gt(at, 25);
	}
}
END_TEST

START_TEST(memory_may_run_out)
{
	bool done = false;

	for (size_t memory = 0; !done; memory += 1000) {
		const struct ag_alloc_profile_wanted wanted = { .interval = 0, .memory = memory };
		struct ag_alloc_profile *profile = ag_alloc_profile_begin(&jvm, &wanted);

		done = profile != NULL;
		if (profile)
			finish(profile);
		else
			ck_assert_ptr_nonnull(jvm.err.what);
		ag_clear_error(&jvm);
		nothing_is_left();
	}
	mem.budget = 1000;
	ck_assert_ptr_null(begin(0, 1));
	nothing_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/alloc/alloc_sample");
	TCase *t = tcase_create("sampling");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, start, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, weights_are_right);
	tcase_add_test(t, samples_become_sites);
	tcase_add_test(t, live_objects_are_counted);
	tcase_add_test(t, reachable_objects_are_live_at_exit);
	tcase_add_test(t, interval_adapts_to_the_rate);
	tcase_add_test(t, missing_sampling_is_explained);
	tcase_add_test(t, suspended_callback_retains_its_memory);
	tcase_add_test(t, each_call_may_fail);
	tcase_add_test(t, memory_may_run_out);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
