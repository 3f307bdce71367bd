/*
 * Profiles that sample, in a JVM that is made for them: what samples stand for, what is told of
 * them, what is live, and that nothing is left, whatever call fails and whoever is in a callback.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/profile_state.h"

#define MEMORY ((size_t)1 << 20)
#define OBJECTS 64

static struct ag_mem mem = { .budget = (size_t)8 << 20 };
static struct ag_jvm jvm;

/* The JVM: classes are numbers, and so are objects; each call that can fail is counted. */
static struct {
	unsigned calls, fail_at; /* 0: nothing fails */
	int release;
	unsigned environments, capabilities, events, weak, blocks;
	bool exception;
	void *local;
	jvmtiEventCallbacks callbacks;
	jint interval;
	jlong tags[OBJECTS];
	jlong sizes[OBJECTS];
	unsigned collections;
	void (*meanwhile)(void); /* while a callback asks for a stack */
} fake;

static bool fails(void)
{
	return ++fake.calls == fake.fail_at;
}

#define FAIL(code) do { \
	if (fails()) \
		return JVMTI_ERROR_##code; \
} while (0)

static jvmtiError JNICALL get_version(jvmtiEnv *ti, jint *version)
{
	(void)ti;
	FAIL(INTERNAL);
	*version = fake.release << JVMTI_VERSION_SHIFT_MAJOR;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_storage(jvmtiEnv *ti, const void *data)
{
	(void)ti;
	FAIL(INTERNAL);
	fake.local = (void *)(uintptr_t)data;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_storage(jvmtiEnv *ti, void **data)
{
	(void)ti;
	*data = fake.local;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *ti)
{
	(void)ti;
	fake.environments--;
	fake.capabilities = 0;
	fake.events = 0;
	memset(fake.tags, 0, sizeof(fake.tags));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *ti, const jvmtiCapabilities *c)
{
	(void)ti;
	if (fails() || fake.release < 11)
		return JVMTI_ERROR_NOT_AVAILABLE;
	fake.capabilities += c->can_generate_sampled_object_alloc_events + 2 * c->can_tag_objects;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_capabilities(jvmtiEnv *ti, jvmtiCapabilities *c)
{
	(void)ti;
	memset(c, 0, sizeof(*c));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL relinquish(jvmtiEnv *ti, const jvmtiCapabilities *c)
{
	(void)ti, (void)c;
	fake.capabilities = 0;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *ti, const jvmtiEventCallbacks *c, jint size)
{
	(void)ti;
	FAIL(INTERNAL);
	memcpy(&fake.callbacks, c, (size_t)size);
	return JVMTI_ERROR_NONE;
}

static unsigned event_bit(jvmtiEvent event)
{
	return event == JVMTI_EVENT_SAMPLED_OBJECT_ALLOC ? 1 : 2;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *ti, jvmtiEventMode mode, jvmtiEvent event,
				   jthread thread, ...)
{
	(void)ti, (void)thread;
	if (mode == JVMTI_DISABLE) {
		fake.events &= ~event_bit(event);
		return JVMTI_ERROR_NONE;
	}
	FAIL(INTERNAL);
	fake.events |= event_bit(event);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_interval(jvmtiEnv *ti, jint interval)
{
	(void)ti;
	FAIL(INTERNAL);
	fake.interval = interval;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL hash_code(jvmtiEnv *ti, jobject object, jint *hash)
{
	(void)ti;
	FAIL(INTERNAL);
	*hash = (jint)((uintptr_t)object % 4); /* some are equal */
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL signature(jvmtiEnv *ti, jclass class, char **text, char **generic)
{
	(void)ti, (void)generic;
	FAIL(OUT_OF_MEMORY);
	*text = calloc(1, 8);
	memcpy(*text, "Lp/C0;", 6);
	(*text)[4] = (char)('0' + (uintptr_t)class % 8); /* two classes have the same name */
	fake.blocks++;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *p)
{
	(void)ti;
	free(p);
	fake.blocks--;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL stack_trace(jvmtiEnv *ti, jthread thread, jint start, jint max,
				      jvmtiFrameInfo *frames, jint *n)
{
	(void)ti, (void)start;
	ck_assert_ptr_nonnull(thread);
	if (fake.meanwhile)
		fake.meanwhile();
	FAIL(INTERNAL);
	*n = max < 3 ? max : 3;
	for (jint i = 0; i < *n; i++)
		frames[i] = (jvmtiFrameInfo){ (jmethodID)(uintptr_t)(8 + 8 * i), i };
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_tag(jvmtiEnv *ti, jobject object, jlong tag)
{
	(void)ti;
	FAIL(OUT_OF_MEMORY);
	ck_assert_int_gt(tag, 0);
	fake.tags[(uintptr_t)object % OBJECTS] = tag;
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ ti_table;
static jvmtiEnv the_ti = &ti_table;

static jvmtiError JNICALL force_collection(jvmtiEnv *ti)
{
	FAIL(INTERNAL);
	fake.collections++;
	if (fake.events & 2)
		fake.callbacks.GarbageCollectionFinish(ti);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL iterate(jvmtiEnv *ti, jint filter, jclass class,
				  const jvmtiHeapCallbacks *callbacks, const void *user)
{
	(void)ti, (void)class;
	FAIL(INTERNAL);
	ck_assert_int_eq(filter, JVMTI_HEAP_FILTER_UNTAGGED);
	for (int i = 0; i < OBJECTS; i++) {
		if (fake.tags[i])
			(void)callbacks->heap_iteration_callback(0, fake.sizes[i], &fake.tags[i],
								 -1, (void *)(uintptr_t)user);
	}
	return JVMTI_ERROR_NONE;
}

/* Each object is referred to twice. */
static jvmtiError JNICALL follow(jvmtiEnv *ti, jint filter, jclass class, jobject from,
				 const jvmtiHeapCallbacks *callbacks, const void *user)
{
	(void)ti, (void)class, (void)from;
	FAIL(INTERNAL);
	ck_assert_int_eq(filter, JVMTI_HEAP_FILTER_UNTAGGED);
	for (int i = 0; i < 2 * OBJECTS; i++) {
		jlong *tag = &fake.tags[i % OBJECTS];

		if (*tag)
			ck_assert_int_eq(callbacks->heap_reference_callback(
				JVMTI_HEAP_REFERENCE_FIELD, NULL, 0, 0, fake.sizes[i % OBJECTS],
				tag, NULL, -1, (void *)(uintptr_t)user), JVMTI_VISIT_OBJECTS);
	}
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ ti_table = {
	.GetVersionNumber = get_version, .SetEnvironmentLocalStorage = set_storage,
	.GetEnvironmentLocalStorage = get_storage, .DisposeEnvironment = dispose,
	.AddCapabilities = add_capabilities, .GetCapabilities = get_capabilities,
	.RelinquishCapabilities = relinquish, .SetEventCallbacks = set_callbacks,
	.SetEventNotificationMode = set_mode, .SetHeapSamplingInterval = set_interval,
	.GetObjectHashCode = hash_code, .GetClassSignature = signature,
	.Deallocate = deallocate, .GetStackTrace = stack_trace, .SetTag = set_tag,
	.ForceGarbageCollection = force_collection, .IterateThroughHeap = iterate,
	.FollowReferences = follow,
};

static jboolean JNICALL same(JNIEnv *jni, jobject a, jobject b)
{
	(void)jni;
	return a == b;
}

static jweak JNICALL new_weak(JNIEnv *jni, jobject object)
{
	(void)jni;
	if (fails()) {
		fake.exception = true;
		return NULL;
	}
	fake.weak++;
	return object;
}

static void JNICALL delete_weak(JNIEnv *jni, jweak ref)
{
	(void)jni, (void)ref;
	fake.weak--;
}

static void JNICALL clear(JNIEnv *jni)
{
	(void)jni;
	fake.exception = false;
}

static unsigned checks;

static jboolean JNICALL check(JNIEnv *jni)
{
	(void)jni;
	checks++;
	return fake.exception;
}

static const struct JNINativeInterface_ jni_table = {
	.IsSameObject = same, .NewWeakGlobalRef = new_weak, .DeleteWeakGlobalRef = delete_weak,
	.ExceptionClear = clear, .ExceptionCheck = check,
};
static JNIEnv session_jni = &jni_table, app_jni = &jni_table;

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
	(void)vm, (void)version;
	if (fails())
		return JNI_EVERSION;
	fake.environments++;
	*env = &the_ti;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ vm_table = { .GetEnv = get_env };
static JavaVM the_vm = &vm_table;

/* What else there is of profiles */
int ag_exact_on(struct ag_jvm *j, struct ag_profile *profile)
{
	(void)profile;
	return ag_fail(j, "count", "not here");
}

void ag_exact_tick(struct ag_jvm *j, struct ag_profile *profile)
{
	(void)j, (void)profile;
	ck_abort_msg("it never began");
}

void ag_exact_off(struct ag_jvm *j, struct ag_profile *profile, jvmtiError *code)
{
	(void)j, (void)profile, (void)code;
	ck_abort_msg("it never began");
}

void ag_exact_merge(struct ag_profile *profile)
{
	(void)profile;
	ck_abort_msg("it never began");
}

void ag_exact_state(const struct ag_profile *profile, struct ag_profile_state *state)
{
	(void)profile, (void)state;
}

int ag_exact_notes(const struct ag_profile *profile, ag_profile_note_fn *tell, void *arg)
{
	(void)profile, (void)tell, (void)arg;
	return 0;
}

void ag_exact_free(struct ag_jvm *j, struct ag_profile *profile)
{
	(void)j, (void)profile;
}

/* Tests */

static void start(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.release = 17;
	jvm = (struct ag_jvm){ .vm = &the_vm, .ti = &the_ti, .jni = &session_jni, .mem = &mem };
}

static void nothing_is_left(void)
{
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(mem.blocks, 0);
	ck_assert_uint_eq(fake.environments, 0);
	ck_assert_uint_eq(fake.capabilities, 0);
	ck_assert_uint_eq(fake.events, 0);
	ck_assert_uint_eq(fake.weak, 0);
	ck_assert_uint_eq(fake.blocks, 0);
	ck_assert(!fake.exception);
}

static struct ag_profile *begin(uint32_t flags, uint64_t interval)
{
	const struct ag_profile_wanted wanted = {
		.flags = flags, .interval = interval, .depth = 64, .memory = MEMORY, .age = 1,
	};

	return ag_profile_begin(&jvm, &wanted);
}

static void allocate(uintptr_t object, uintptr_t class, jlong size)
{
	fake.sizes[object % OBJECTS] = size;
	if (fake.events & 1)
		fake.callbacks.SampledObjectAlloc(&the_ti, &app_jni, (jthread)1, (jobject)object,
						  (jclass)class, size);
}

static struct ag_profile_state state_of(const struct ag_profile *profile)
{
	struct ag_profile_state state;

	ag_profile_state(profile, &state);
	return state;
}

static void finish(struct ag_profile *profile)
{
	jvmtiError code;

	(void)ag_profile_end(&jvm, profile, false, &code);
	ag_profile_free(&jvm, profile);
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
			double objects = 256 / p, bytes = (double)size / p;

			ck_assert(fabs((double)w.objects_256 - objects) <= 0.5 + objects * 1e-9);
			ck_assert(fabs((double)w.bytes - bytes) <= 0.5 + bytes * 1e-9);
		}
	}
}
END_TEST

START_TEST(samples_become_sites)
{
	struct ag_profile *profile = begin(0, 1 << 20);
	struct ag_weight one = ag_sample_weight(24, 1 << 20);
	struct ag_profile_site site;

	ck_assert_ptr_nonnull(profile);
	ck_assert_int_eq(fake.interval, 1 << 20);
	allocate(1, 1, 24);
	allocate(2, 1, 24);
	allocate(3, 5, 24);  /* the same hash */
	allocate(4, 9, 24);  /* the same name as the first */
	fake.callbacks.SampledObjectAlloc(&the_ti, &session_jni, (jthread)1, (jobject)5,
					  (jclass)1, 24);
	ck_assert_uint_eq(state_of(profile).samples, 4);
	ck_assert_uint_eq(state_of(profile).bytes, 4 * one.bytes);
	ck_assert_uint_eq(state_of(profile).kinds, 2);
	ck_assert_uint_eq(state_of(profile).sites, 2);
	ck_assert_uint_eq(state_of(profile).dropped, 0);
	ck_assert(ag_profile_site(profile, 0, &site));
	ck_assert_str_eq(ag_profile_kind(profile, site.kind), "Lp/C1;");
	ck_assert_uint_eq(site.samples, 3);
	ck_assert_uint_eq(site.objects, (3 * one.objects_256 + 128) / 256);
	ck_assert_uint_eq(site.n_frames, 3);
	ck_assert(!ag_profile_site(profile, 2, &site));
	ck_assert_ptr_null(ag_profile_kind(profile, 2));
	finish(profile);
	ck_assert_int_eq(fake.interval, 512 << 10); /* as it was in a JVM nobody sampled */
	nothing_is_left();
}
END_TEST

START_TEST(what_is_live_is_counted)
{
	struct ag_profile *profile = begin(WIRE_ALLOC_LIVE, 1 << 20);
	struct ag_weight old = ag_sample_weight(100, 1 << 20);
	struct ag_profile_site site;
	jvmtiError code;

	ck_assert_ptr_nonnull(profile);
	allocate(1, 1, 100);
	allocate(2, 1, 100);
	allocate(3, 1, 100);
	fake.callbacks.GarbageCollectionFinish(&the_ti);
	allocate(4, 1, 100); /* is younger than wanted */
	fake.tags[2] = 0; /* was collected */
	ck_assert_int_eq(ag_profile_peek(&jvm, profile, true), 0);
	ck_assert_uint_eq(state_of(profile).collections, 1);
	ck_assert_int_eq(ag_profile_peek(&jvm, profile, true), 0);
	ck_assert(ag_profile_site(profile, 0, &site));
	ck_assert_uint_eq(site.live_bytes, 2 * old.bytes);
	ck_assert_int_eq(ag_profile_end(&jvm, profile, true, &code), 0);
	ck_assert_int_eq(code, JVMTI_ERROR_NONE);
	ck_assert_uint_eq(fake.events, 0);
	ck_assert(ag_profile_site(profile, 0, &site));
	ck_assert_uint_eq(site.samples, 4);
	ck_assert_uint_eq(site.live_bytes, 2 * old.bytes);
	ck_assert_uint_eq(site.live_objects, (2 * old.objects_256 + 128) / 256);
	ck_assert_uint_eq(state_of(profile).collections, 1);
	ck_assert_uint_eq(fake.collections, 3);
	ag_profile_free(&jvm, profile);
	nothing_is_left();
}
END_TEST

/* Nothing is collected then, and each object counts once, however many refer to it. */
START_TEST(what_is_live_at_the_end_is_reached)
{
	struct ag_profile *profile = begin(WIRE_ALLOC_LIVE, 1 << 20);
	struct ag_profile_site site;

	allocate(1, 1, 100);
	fake.callbacks.GarbageCollectionFinish(&the_ti);
	ag_profile_dying(profile);
	ck_assert_int_eq(ag_profile_peek(&jvm, profile, true), 0);
	ck_assert_uint_eq(fake.collections, 0);
	ck_assert(ag_profile_site(profile, 0, &site));
	ck_assert_uint_eq(site.live_bytes, ag_sample_weight(100, 1 << 20).bytes);
	finish(profile);
	nothing_is_left();
}
END_TEST

static void wait_a_tick(struct ag_profile *profile)
{
	int64_t until = ag_now_ns() + 110000000;

	while (ag_now_ns() < until)
		;
	ag_profile_tick(&jvm, profile);
}

/* A sample stands for what its gap was drawn with, whatever the interval is meanwhile. */
START_TEST(the_interval_is_chosen)
{
	struct ag_profile *profile = begin(WIRE_ALLOC_LIVE, 0);
	struct ag_weight first = ag_sample_weight(24, 512 << 10);
	struct ag_weight then = ag_sample_weight(24, 4096);
	struct ag_profile_site site;
	jvmtiError code;

	ck_assert_int_eq(fake.interval, 512 << 10);
	allocate(1, 1, 24);
	wait_a_tick(profile);
	/* So many would not be too many; it is less than 128 ms on a machine that is not busy. */
	ck_assert(fake.interval == 8192 || fake.interval == 4096);
	wait_a_tick(profile);
	ck_assert_int_eq(fake.interval, 4096);
	ck_assert_uint_eq(state_of(profile).interval, 4096);
	allocate(2, 1, 24);
	ck_assert_uint_eq(state_of(profile).bytes, 2 * first.bytes);
	allocate(3, 1, 24);
	ck_assert_uint_eq(state_of(profile).bytes, 2 * first.bytes + then.bytes);
	fake.callbacks.GarbageCollectionFinish(&the_ti);
	/* A burst makes it longer at once. */
	for (int i = 0; i < 50000; i++)
		allocate(4, 1, 24);
	ck_assert_int_eq(fake.interval, 512 << 10);
	fake.tags[4] = 0;
	ck_assert_int_eq(ag_profile_end(&jvm, profile, true, &code), 0);
	ck_assert(ag_profile_site(profile, 0, &site));
	ck_assert_uint_eq(site.live_bytes, 2 * first.bytes + then.bytes);
	ag_profile_free(&jvm, profile);
	nothing_is_left();
}
END_TEST

START_TEST(who_cannot_sample_is_told_why)
{
	fake.release = 1;
	ck_assert_ptr_null(begin(0, 1));
	ck_assert_int_eq(jvm.err.code, JVMTI_ERROR_NOT_AVAILABLE);
	ck_assert_str_eq(jvm.err.what, "AddCapabilities");
	ck_assert_ptr_nonnull(strstr(jvm.err.why, "JDK 11"));
	nothing_is_left();
	ag_forgive(&jvm);
	ck_assert_ptr_null(begin(WIRE_ALLOC_EXACT, 1));
	ck_assert_ptr_nonnull(jvm.err.what);
	nothing_is_left();
}
END_TEST

/* A thread that is suspended in a callback keeps what it may look at, and nothing else. */
static struct ag_profile *ending;

static void end_it(void)
{
	fake.meanwhile = NULL;
	finish(ending);
}

START_TEST(who_stays_keeps_the_memory)
{
	struct ag_profile *next;
	struct ag_mem before;

	ending = begin(0, 4096);
	fake.meanwhile = end_it;
	checks = 0;
	allocate(1, 1, 24);
	/* a millisecond counts when a call of JNI has come back, as it does at no safepoint */
	ck_assert_uint_eq(checks, AG_PROFILE_OFF_MS);
	ck_assert_uint_eq(ending->left, 1);
	ck_assert_uint_eq(ending->samples, 1);
	ck_assert_uint_eq(fake.capabilities, 0);
	ck_assert_uint_eq(fake.events, 0);
	ck_assert_uint_gt(mem.blocks, 0);
	before = mem;
	next = begin(0, 4096);
	allocate(1, 1, 24);
	ck_assert_uint_eq(next->samples, 1);
	finish(next);
	ck_assert_uint_eq(mem.bytes, before.bytes);
	ag_kinds_release(ending->kinds, &session_jni);
	fake.environments--;
	ag_arena_release(&ending->arena, &mem);
	ag_free(&mem, ending);
	nothing_is_left();
}
END_TEST

static bool survives(unsigned fail_at, uint64_t interval)
{
	struct ag_profile *profile;
	jvmtiError code;

	start();
	fake.fail_at = fail_at;
	profile = begin(WIRE_ALLOC_LIVE, interval);
	if (!profile)
		ck_assert_ptr_nonnull(jvm.err.what);
	for (uintptr_t i = 1; profile && i < 6; i++)
		allocate(i, i, 24);
	if (profile) {
		struct ag_profile_state state = state_of(profile);

		ck_assert_uint_ge(state.samples + state.dropped, 5);
		ck_assert(ag_profile_end(&jvm, profile, true, &code) == 0 || jvm.err.what);
		ck_assert(!fake.exception);
		ag_profile_free(&jvm, profile);
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
		const struct ag_profile_wanted wanted = { .interval = 0, .memory = memory };
		struct ag_profile *profile = ag_profile_begin(&jvm, &wanted);

		done = profile != NULL;
		if (profile)
			finish(profile);
		else
			ck_assert_ptr_nonnull(jvm.err.what);
		ag_forgive(&jvm);
		nothing_is_left();
	}
	mem.budget = 1000;
	ck_assert_ptr_null(begin(0, 1));
	nothing_is_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("profile");
	TCase *t = tcase_create("sampling");
	SRunner *runner = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, start, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, weights_are_right);
	tcase_add_test(t, samples_become_sites);
	tcase_add_test(t, what_is_live_is_counted);
	tcase_add_test(t, what_is_live_at_the_end_is_reached);
	tcase_add_test(t, the_interval_is_chosen);
	tcase_add_test(t, who_cannot_sample_is_told_why);
	tcase_add_test(t, who_stays_keeps_the_memory);
	tcase_add_test(t, each_call_may_fail);
	tcase_add_test(t, memory_may_run_out);
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
