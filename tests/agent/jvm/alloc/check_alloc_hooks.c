/*
 * Hooks of exact profiles, called as instrumented code calls them, in a fake JVM: sums are exact
 * with concurrent threads and with little memory.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake/fake_time.h"
#include "agent/fake/jvm_parts.h"
#include "jvm/alloc/alloc_exact_state.h"
#include "jvm/instrument/hook_natives.h"

#define MEM ((size_t)64 << 20)
#define CLASSES 6000
#define OWN (FAKE_THREADS - 1)
#define METHOD(of, its_name, its_descriptor, ...) \
	{ .class = of, .name = its_name, .descriptor = its_descriptor, __VA_ARGS__ }
#define CODE(bytes) .code = bytes, .len = sizeof(bytes)

/* Up to four elements of an array: the first is `first`, the others are NULL. */
#define ELEMENTS(first) (const jvalue[4]) { { .l = (jobject)(first) } }

static struct ag_mem mem = { .budget = 3 * MEM };
static struct ag_jvm jvm;
static struct ag_alloc_profile profile;
static struct fake_object object_class = { .signature = "Ljava/lang/Object;", .hash = 1 };
static struct fake_object class_class = { .class = &class_class, .signature = "Ljava/lang/Class;",
	.super = &object_class, .hash = 2 };
static struct fake_object thread_class = { .class = &class_class, .signature = "Ljava/lang/Thread;",
	.super = &object_class, .hash = 3 };
static struct fake_object virtual_class = { .class = &class_class,
	.signature = "Ljava/lang/VirtualThread;", .super = &thread_class, .hash = 4 };
static const struct fake_field carrier[] = {
	{ &virtual_class, "carrierThread", "Ljava/lang/Thread;", 0, 0 },
};
static struct fake_object classes[CLASSES], objects[CLASSES], *loaded[CLASSES + 4];
static char signatures[CLASSES][24];

/* Stand-ins for the modules that the hooks use */

static struct ag_alloc_code *const no_instrumentation = (struct ag_alloc_code *)(void *)&profile;
static bool instrumentation_fails;
static uint32_t marked_site, marked;

int ag_alloc_profile_listen(struct ag_jvm *of, struct ag_alloc_profile *p, jvmtiEvent event)
{
	(void)of, (void)p, (void)event;
	return 0;
}

void ag_live_mark(struct ag_alloc_profile *p, jobject object, uint32_t site, uint64_t interval)
{
	(void)p, (void)object, (void)interval;
	marked_site = site;
	marked++;
}

struct ag_alloc_code *ag_alloc_code_install(struct ag_jvm *of, struct ag_alloc_profile *p)
{
	(void)p;
	if (!instrumentation_fails)
		return no_instrumentation;
	(void)ag_fail(of, "weave", "so it is");
	return NULL;
}

void ag_alloc_code_tick(struct ag_jvm *of, struct ag_alloc_code *weaving)
{
	(void)of, (void)weaving;
}

void ag_alloc_code_remove(struct ag_jvm *of, struct ag_alloc_code *weaving, jvmtiError *code)
{
	(void)of, (void)weaving;
	*code = JVMTI_ERROR_NONE;
}

void ag_alloc_code_count(const struct ag_alloc_code *weaving, uint32_t *hooked, uint32_t *refused)
{
	(void)weaving;
	*hooked = 7;
	*refused = 2;
}

int ag_alloc_code_notes(const struct ag_alloc_code *weaving, ag_alloc_profile_note_fn *tell,
			void *arg)
{
	(void)weaving, (void)tell, (void)arg;
	return 0;
}

void ag_alloc_code_free(struct ag_jvm *of, struct ag_alloc_code *weaving)
{
	(void)of, (void)weaving;
}

/* Profiles */

static const unsigned char only_return[] = { 0xb1 }, late_return[] = { 0, 0, 0xb1 };
static struct fake_method object_init =
	METHOD(&object_class, "<init>", "()V", CODE(only_return));
static struct fake_method run = METHOD(&thread_class, "run", "()V", CODE(late_return));

static jmethodID id_of(struct fake_method *method)
{
	return (jmethodID)(void *)method;
}

static void set_stack(struct fake_method *top, struct fake_method *next, jlocation at)
{
	fake_current = &thread_class;
	fake_depth = 0;
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ NULL, -1 };
	if (top)
		fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(top), 9 };
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(next), at };
}

static void start(void)
{
	fake_add_objects();
	fake_add_classes();
	fake_add_threads();
	fake_add_environments();
	fake = (struct fake_jvm){ .frames_are_empty = true, .named_threads = true, .align = 8,
		.header = 16, .reference = 4, .loaded = loaded, .n_loaded = CLASSES + 4,
		.fields = carrier, .n_fields = 1, .current_thread = &thread_class };
	(void)fake_ti();
	fake_mark();
	loaded[0] = &object_class;
	loaded[1] = &class_class;
	loaded[2] = &thread_class;
	loaded[3] = &virtual_class;
	for (int i = 0; i < CLASSES; i++) {
		(void)snprintf(signatures[i], sizeof(signatures[i]), "Lp/C%d;", i);
		classes[i] = (struct fake_object){ .class = &class_class, .super = &object_class,
			.signature = signatures[i], .hash = 1000 + i * 7919 };
		objects[i] = (struct fake_object){ .class = &classes[i], .size = 16 + 8 * (i % 4) };
		loaded[4 + i] = &classes[i];
	}
	jvm = (struct ag_jvm){ .ti = fake_ti(), .jni = fake_jni(OWN), .mem = &mem };
	instrumentation_fails = false;
	marked = 0;
	set_stack(&object_init, &run, 1);
}

static int try_begin(size_t memory, uint32_t flags, const char *const *globs, uint32_t n_globs)
{
	profile = (struct ag_alloc_profile){ .ti = fake_ti(),
					     .own = jvm.jni,
					     .wanted = {
						     .flags = WIRE_ALLOC_EXACT | flags,
						     .depth = 8,
						     .globs = globs,
						     .n_globs = n_globs,
					     } };
	ck_assert_int_eq(ag_arena_init(&profile.arena, &mem, memory), 0);
	profile.kinds = ag_alloc_classes_new(&profile.arena, &profile.globals);
	ck_assert_ptr_nonnull(profile.kinds);
	ck_assert_int_eq(ag_sites_init(&profile.sites, &profile.arena), 0);
	return ag_exact_on(&jvm, &profile);
}

static void begin(uint32_t flags)
{
	ck_assert_int_eq(try_begin(MEM, flags, NULL, 0), 0);
	ck_assert_uint_eq(profile.globals, fake.counts.globals + fake.counts.weak);
	/* As if an hour had passed: also on a busy machine, the walks keep within their budget. */
	profile.exact->began_ns -= INT64_C(3600000000000);
}

static void release(void)
{
	if (profile.exact)
		ag_exact_free(&jvm, &profile);
	ag_alloc_classes_release(profile.kinds, jvm.jni);
	ag_arena_release(&profile.arena, &mem);
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_uint_eq(profile.globals, 0);
	fake_nothing_left();
}

static void off(void)
{
	jvmtiError code;

	ag_exact_off(&jvm, &profile, &code);
	ck_assert_int_eq(code, 0);
	ag_exact_merge(&profile);
}

struct sum {
	uint64_t objects, bytes;
	uint32_t sites, frames; /* frames: of the last site */
	const uint64_t *methods;
};

/* Returns the sum of all sites of a class, or of all classes if `signature` is NULL. */
static struct sum sum_of(const char *signature)
{
	struct sum sum = { 0 };
	struct ag_alloc_site site;

	for (uint32_t i = 0; ag_sites_get(&profile.sites, i, &site); i++) {
		if (signature &&
		    strcmp(ag_alloc_classes_signature(profile.kinds, site.kind), signature))
			continue;
		sum.objects += site.objects;
		sum.bytes += site.bytes;
		sum.sites++;
		sum.frames = site.n_frames;
		sum.methods = site.methods;
	}
	return sum;
}

static void make(unsigned thread, int i)
{
	ag_hook_made(fake_jni(thread), NULL, (jobject)&objects[i], classes[i].hash);
}

static uint32_t place(enum ag_array_site_kind kind, const char *signature, const char *owner)
{
	uint32_t number =
		ag_array_site_new(profile.exact, kind, signature, signature ? strlen(signature) : 0,
				  owner, owner ? strlen(owner) : 0);

	ck_assert_uint_ne(number, 0);
	return number;
}

static void assert_sum(const char *signature, uint64_t n, uint64_t bytes)
{
	struct sum sum = sum_of(signature);

	ck_assert_uint_eq(sum.objects, n);
	ck_assert_uint_eq(sum.bytes, bytes);
}

START_TEST(objects_are_counted_by_class)
{
	struct sum sum;

	begin(0);
	for (int i = 0; i < 100000; i++) {
		make(0, 1);
		make(1, i % 2);
	}
	off();
	assert_sum("Lp/C0;", 50000, 50000 * 16);
	assert_sum("Lp/C1;", 150000, 150000 * 24);
	sum = sum_of("Lp/C1;");
	ck_assert_uint_eq(sum.sites, 1);
	ck_assert_uint_eq(sum.frames, 1); /* the hook and the constructor are skipped */
	ck_assert_ptr_eq((void *)(uintptr_t)sum.methods[0], &run);
	ck_assert_uint_gt(fake.walks, 3 * AG_WALK_ALL);
	ck_assert_uint_lt(fake.walks, 30000);
	make(0, 1);
	off();
	assert_sum(NULL, 200000, 50000 * 16 + 150000 * 24);
	release();
}
END_TEST

/* The first objects are counted with their own stacks exactly, later ones approximately. */
START_TEST(stacks_divide_the_objects_of_a_class)
{
	static struct fake_method other =
		METHOD(&thread_class, "other", "()V", CODE(only_return));
	struct ag_alloc_site site;
	uint64_t of_run = 0;

	begin(0);
	for (int i = 0; i < 1000; i++) {
		set_stack(&object_init, i % 3 == 0 ? &other : &run, 1);
		make(0, 1);
	}
	ag_exact_merge(&profile);
	for (uint32_t i = 0; ag_sites_get(&profile.sites, i, &site); i++)
		ck_assert_uint_eq(site.objects, site.methods[0] == (uintptr_t)&run ? 666 : 334);
	for (int i = 0; i < 1000000; i++) {
		fake_stack[2].method = id_of(i % 3 == 0 ? &other : &run);
		make(0, 1);
	}
	off();
	for (uint32_t i = 0; ag_sites_get(&profile.sites, i, &site); i++)
		of_run += site.methods[0] == (uintptr_t)&run ? site.objects : 0;
	/* The sum is random: 667,000 on average, with a standard deviation of 12,000. */
	ck_assert_uint_gt(of_run, 667000 - 6 * 12000);
	ck_assert_uint_lt(of_run, 667000 + 6 * 12000);
	assert_sum(NULL, 1001000, 1001000 * 24);
	release();
}
END_TEST

START_TEST(walks_beyond_their_budget_are_few)
{
	begin(0);
	profile.exact->walks_ns = UINT64_MAX / 2;
	for (int i = 0; i < 100000; i++)
		make(0, 1);
	off();
	ck_assert_uint_gt(fake.walks, AG_WALK_FEW);
	ck_assert_uint_lt(fake.walks, AG_WALK_ALL);
	assert_sum(NULL, 100000, 100000 * 24);
	release();
}
END_TEST

/* Threads */

#define N_WORKERS 8
#define ROUNDS 200000

static uint32_t shared_place;

static void *work(void *arg)
{
	unsigned thread = (unsigned)(uintptr_t)arg;

	set_stack(&object_init, &run, 1);
	for (int i = 0; i < ROUNDS; i++) {
		make(thread, i % 700);
		if (i % 4 == 0)
			ag_hook_array(fake_jni(thread), NULL, (jobject)&objects[0], i % 9,
				      (jint)shared_place);
	}
	return NULL;
}

START_TEST(threads_count_concurrently)
{
	pthread_t threads[N_WORKERS];
	struct ag_alloc_profile_state state = { 0 };
	uint64_t bytes = 0;

	begin(0);
	shared_place = place(AG_ARRAY_SITE_ARRAY, "[I", NULL);
	for (uintptr_t i = 0; i < N_WORKERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < 50; i++) {
		ag_exact_merge(&profile);
		ck_assert_uint_le(sum_of("[I").objects, N_WORKERS * ROUNDS / 2);
		ck_assert_uint_le(sum_of("[I").bytes, N_WORKERS * (uint64_t)ROUNDS * 24);
	}
	for (int i = 0; i < N_WORKERS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ag_exact_state(&profile, &state);
	ck_assert_uint_eq(state.samples, N_WORKERS * ROUNDS / 4 * 5);
	ck_assert_uint_eq(state.hooked, 7);
	ag_exact_merge(&profile);
	ck_assert_uint_eq(sum_of(NULL).objects, N_WORKERS * ROUNDS / 4 * 5);
	off();
	for (int i = 0; i < ROUNDS; i += 4)
		bytes += (uint64_t)(16 + 4 * (i % 9) + 7) / 8 * 8;
	assert_sum("[I", N_WORKERS * ROUNDS / 4, N_WORKERS * bytes);
	ck_assert_uint_eq(sum_of(NULL).objects, N_WORKERS * ROUNDS / 4 * 5);
	ck_assert_uint_eq(profile.dropped, 0);
	release();
}
END_TEST

static volatile bool stop;

static void *work_on(void *arg)
{
	uint64_t n = 0;

	set_stack(&object_init, &run, 1);
	for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		fake_time_round((unsigned)(uintptr_t)arg);
		make((unsigned)(uintptr_t)arg, (int)(n % 50));
	}
	return NULL;
}

/* Profiles begin and end while threads allocate: no profile counts objects of another profile. */
START_TEST(profiles_begin_and_end_while_threads_count)
{
	pthread_t threads[4];
	uint64_t before;

	stop = false;
	for (uintptr_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work_on, (void *)i), 0);
	fake_time.workers = 4;
	for (int i = 0; i < 30; i++) {
		begin(0);
		off();
		ck_assert_uint_eq(profile.left, 0);
		before = sum_of(NULL).objects;
		off();
		ck_assert_uint_eq(sum_of(NULL).objects, before);
		ag_exact_free(&jvm, &profile);
		ag_alloc_classes_release(profile.kinds, jvm.jni);
		ag_arena_release(&profile.arena, &mem);
	}
	fake_time.workers = 0;
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_int_eq(fake.counts.references, 0);
}
END_TEST

START_TEST(tables_grow)
{
	begin(0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < CLASSES; i++)
			make(0, i);
	}
	off();
	for (int i = 0; i < CLASSES; i += 97)
		assert_sum(signatures[i], 3, 3 * (16 + 8 * (uint64_t)(i % 4)));
	ck_assert_uint_eq(sum_of(NULL).objects, 3 * CLASSES);
	release();
}
END_TEST

/* Objects of a class for which there is no memory are counted as dropped. */
START_TEST(objects_without_memory_are_counted_as_dropped)
{
	fake.n_loaded = 4;
	ck_assert_int_eq(try_begin((size_t)1 << 20, 0, NULL, 0), 0);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < CLASSES; i++)
			make(round % 3, i);
	}
	off();
	ck_assert_uint_gt(profile.dropped, 1000);
	ck_assert_uint_gt(sum_of(NULL).objects, 1000);
	ck_assert_uint_eq(sum_of(NULL).objects + profile.dropped, 20 * CLASSES);
	off();
	ck_assert_uint_eq(sum_of(NULL).objects + profile.dropped, 20 * CLASSES);
	release();
}
END_TEST

static int take_strayed(void *n, uint32_t note, const char *text, uint64_t strayed)
{
	ck_assert_uint_eq(note, WIRE_ALLOC_FULL);
	ck_assert_ptr_nonnull(strstr(text, "other stacks"));
	*(uint64_t *)n = strayed;
	return 0;
}

/* If there is no memory for a stack, its objects are counted with another stack of the class. */
START_TEST(stacks_without_memory_are_noted)
{
	uint64_t n = 0;

	fake.n_loaded = 4;
	ck_assert_int_eq(try_begin((size_t)1 << 20, 0, NULL, 0), 0);
	ck_assert_int_eq(ag_exact_notes(&profile, take_strayed, &n), 0);
	ck_assert_uint_eq(n, 0);
	for (jlocation i = 0; i < 20000; i++) {
		set_stack(&object_init, &run, i / 10);
		make(0, (int)(i % 10));
	}
	off();
	ck_assert_uint_eq(profile.dropped, 0);
	ck_assert_uint_eq(sum_of(NULL).objects, 20000);
	ck_assert_int_eq(ag_exact_notes(&profile, take_strayed, &n), 0);
	ck_assert_uint_gt(n, 1000);
	ck_assert_uint_lt(n, 20000);
	release();
}
END_TEST

/* Two classes share a hash from the beginning, two others only once the second is loaded. */
START_TEST(hashes_are_shared)
{
	classes[1].hash = classes[0].hash;
	classes[3].hash = classes[2].hash;
	loaded[4 + 3] = &classes[5];
	begin(0);
	for (int i = 0; i < 3000; i++) {
		make(0, 0);
		make(0, i % 2);
		make(0, 2);
		make(1, 2);
	}
	profile.callbacks.ClassPrepare(profile.ti, fake_jni(2), NULL, (jclass)&classes[3]);
	for (int i = 0; i < 3000; i++) {
		make(0, 2);
		make(1, 3);
		make(2, 3);
	}
	off();
	assert_sum("Lp/C0;", 4500, 4500 * 16);
	assert_sum("Lp/C1;", 1500, 1500 * 24);
	assert_sum("Lp/C2;", 9000, 9000 * 32);
	assert_sum("Lp/C3;", 6000, 6000 * 40);
	release();
}
END_TEST

/* More hashes are shared than fit into the list of shared hashes. */
START_TEST(many_hashes_are_shared)
{
	for (int i = 1; i < 401; i += 2)
		classes[i].hash = classes[i - 1].hash;
	begin(0);
	for (int i = 0; i < 400 * 5; i++)
		make(0, i % 400);
	make(0, 500);
	off();
	for (int i = 0; i < 400; i++)
		ck_assert_uint_eq(sum_of(signatures[i]).objects, 5);
	assert_sum("Lp/C500;", 1, 16);
	release();
}
END_TEST

/* Arrays */

START_TEST(array_sizes_are_measured)
{
	static const jlong layouts[][3] = { { 8, 16, 4 }, { 8, 12, 4 }, { 8, 20, 8 }, { 8, 24, 8 },
		{ 16, 16, 4 }, { 256, 12, 4 } };
	static const char *const types[] = { "[Z", "[S", "[I", "[J", "[Lp/C0;" };

	for (size_t l = 0; l < sizeof(layouts) / sizeof(layouts[0]); l++) {
		fake.align = layouts[l][0];
		fake.header = layouts[l][1];
		fake.reference = layouts[l][2];
		begin(0);
		for (size_t t = 0; t < 5; t++) {
			jlong size = t < 4 ? 1 << t : fake.reference, sum = 0;
			jlong header = (fake.header + size - 1) / size * size;
			uint32_t number = place(AG_ARRAY_SITE_ARRAY, types[t], NULL);

			for (int i = 0; i < 300; i++) {
				ag_hook_array(fake_jni(0), NULL, (jobject)&objects[0], i,
					      (jint)number);
				sum += (header + i * size + fake.align - 1) / fake.align *
					fake.align;
			}
			off();
			ck_assert_uint_eq(ag_exact_is_shared(profile.exact, 0), 0);
			assert_sum(types[t], 300, (uint64_t)sum);
			if (t < 4) {
				release();
				begin(0);
			}
		}
		release();
	}
}
END_TEST

START_TEST(arrays_of_arrays_are_counted)
{
	struct fake_object inner = { .len = 4 };
	struct fake_object middle = { .len = 3, .elements = ELEMENTS(&inner) };
	struct fake_object outer = { .len = 2, .elements = ELEMENTS(&middle) };
	struct fake_object rest = { .len = 3, .elements = ELEMENTS(NULL) }, none = { .len = 0 };
	jint number;

	begin(0);
	number = (jint)place(AG_ARRAY_SITE_ARRAYS, "[[[S", NULL);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&outer, number);
	number = (jint)place(AG_ARRAY_SITE_ARRAYS, "[[J", NULL);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&rest, number);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&none, number);
	off();
	assert_sum("[[[S", 1, 24);
	assert_sum("[[S", 2, 2 * 32);
	assert_sum("[S", 6, 6 * 24);
	assert_sum("[[J", 2, 32 + 16);
	assert_sum("[J", 0, 0);
	release();
}
END_TEST

START_TEST(each_live_object_is_marked)
{
	struct fake_object inner = { .len = 4 }, second = { .len = 4 };
	const jvalue both[] = { { .l = (jobject)&inner }, { .l = (jobject)&second } };
	struct fake_object outer = { .len = 2, .elements = both };

	begin(WIRE_ALLOC_LIVE);
	for (int i = 0; i < 5000; i++)
		make(0, 1);
	ck_assert_uint_eq(marked, 5000);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&outer, (jint)place(AG_ARRAY_SITE_ARRAYS, "[[I",
								       NULL));
	ck_assert_uint_eq(marked, 5003);
	off();
	assert_sum("[I", 2, 2 * 32);
	release();
}
END_TEST

/* Hooks ignore site numbers of a profile that has ended, and invalid numbers. */
START_TEST(site_numbers_are_valid_in_one_profile)
{
	uint32_t old, number;

	begin(0);
	old = place(AG_ARRAY_SITE_ARRAY, "[I", NULL);
	off();
	release();
	begin(0);
	number = place(AG_ARRAY_SITE_ARRAY, "[J", NULL);
	ck_assert_uint_ne(number, old);
	ag_hook_array(fake_jni(0), NULL, (jobject)&objects[0], 5, (jint)old);
	ag_hook_array(fake_jni(0), NULL, (jobject)&objects[0], 5, 0);
	ag_hook_array(fake_jni(0), NULL, (jobject)&objects[0], 5, -1);
	ag_hook_array(fake_jni(0), NULL, (jobject)&objects[0], 5, INT32_MAX);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&objects[0], (jint)number + 5000);
	ag_hook_result(fake_jni(0), NULL, (jobject)&objects[0], (jint)old);
	ag_hook_result(fake_jni(0), NULL, (jobject)&objects[0], 0);
	ag_hook_result(fake_jni(0), NULL, NULL, (jint)number);
	make(OWN, 1);
	ag_hook_made(fake_jni(0), NULL, (jobject)&objects[0], 0);
	off();
	assert_sum(NULL, 0, 0);
	ck_assert_uint_eq(profile.dropped, 1);
	release();
}
END_TEST

/* Copies */

static void clone_of(struct fake_object *class, enum ag_array_site_kind kind, const char *owner)
{
	struct fake_object copy = { .class = class, .size = 24, .len = 1 };
	uint32_t number = place(kind, NULL, owner);

	for (int i = 0; i < 3; i++)
		ag_hook_result(fake_jni(0), NULL, (jobject)&copy, (jint)number);
}

START_TEST(clones_by_java_lang_object_are_counted)
{
	static struct fake_method clone = METHOD(NULL, "clone", "()Ljava/lang/Object;");
	static struct fake_method bridge = METHOD(NULL, "clone", "()Lp/A;");
	struct fake_object plain = { .class = &class_class, .signature = "Lp/Plain;", .hash = 11,
		.super = &object_class, .methods = &bridge, .n_methods = 1 };
	struct fake_object over = { .class = &class_class, .signature = "Lp/Over;", .hash = 12,
		.super = &object_class, .methods = &clone, .n_methods = 1 };
	struct fake_object child = { .class = &class_class, .signature = "Lp/Child;", .hash = 13,
		.super = &over };
	struct fake_object ints = { .class = &class_class, .signature = "[I", .hash = 14,
		.super = &object_class };

	object_class.methods = &clone;
	object_class.n_methods = 1;
	begin(0);
	clone_of(&plain, AG_ARRAY_SITE_CLONE, "p/Plain");
	clone_of(&over, AG_ARRAY_SITE_CLONE, "p/Over");
	clone_of(&child, AG_ARRAY_SITE_CLONE, "p/Child");
	clone_of(&child, AG_ARRAY_SITE_CLONE_SPECIAL, "p/Over");
	clone_of(&ints, AG_ARRAY_SITE_CLONE, "[I");
	clone_of(&ints, AG_ARRAY_SITE_CLONE, "p/Over"); /* a method of another class */
	clone_of(&plain, AG_ARRAY_SITE_CLONE, "p/Over");
	off();
	assert_sum("Lp/Plain;", 3, 72);
	assert_sum("[I", 3, 72);
	assert_sum("Lp/Over;", 0, 0);
	assert_sum("Lp/Child;", 0, 0);
	release();
	begin(0);
	clone_of(&over, AG_ARRAY_SITE_CLONE_SPECIAL, "java/lang/Object");
	clone_of(&child, AG_ARRAY_SITE_CLONE_SPECIAL, "java/lang/Object");
	clone_of(&ints, AG_ARRAY_SITE_CLONE, "java/lang/Object");
	clone_of(&plain, AG_ARRAY_SITE_RESULT, NULL);
	off();
	assert_sum("Lp/Over;", 3, 72);
	assert_sum("Lp/Child;", 3, 72);
	assert_sum("[I", 3, 72);
	assert_sum("Lp/Plain;", 3, 72);
	release();
	object_class.n_methods = 0;
}
END_TEST

/* Stacks */

/* aload_0; new; dup; invokespecial; invokespecial super; new; dup; invokespecial; return */
static const unsigned char constructor_code[] = {
	0x2a, 0xbb, 0, 1, 0x59, 0xb7, 0, 2, 0xb7, 0, 3, 0xbb, 0, 1, 0x59, 0xb7, 0, 2, 0xb1,
};
#define IN_ARGUMENT 5
#define SUPER 8
#define IN_BODY 15

static uint32_t frames_at(struct fake_method *constructor, jlocation first, jlocation second)
{
	struct sum sum;

	begin(0);
	fake_depth = 0;
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ NULL, -1 };
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(&object_init), 9 };
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(constructor), first };
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(constructor), second };
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(&run), 1 };
	make(0, 1);
	off();
	sum = sum_of(NULL);
	release();
	return sum.frames;
}

START_TEST(constructor_chains_are_skipped_in_stacks)
{
	struct fake_method constructor =
		METHOD(&classes[1], "<init>", "()V", CODE(constructor_code));

	ck_assert_uint_eq(frames_at(&constructor, SUPER, SUPER), 1);
	ck_assert_uint_eq(frames_at(&constructor, SUPER, IN_BODY), 2);
	ck_assert_uint_eq(frames_at(&constructor, IN_BODY, SUPER), 3);
	ck_assert_uint_eq(frames_at(&constructor, IN_ARGUMENT, SUPER), 3);
}
END_TEST

static struct sum vm_alloc(struct fake_method *top, struct fake_method *caller, jlocation at)
{
	struct sum sum;

	begin(0);
	fake_depth = 0;
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(top), -1 };
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(caller), at };
	profile.callbacks.VMObjectAlloc(profile.ti, fake_jni(0), NULL, (jobject)&objects[1],
					(jclass)&classes[1], 24);
	off();
	sum = sum_of("Lp/C1;");
	release();
	return sum;
}

START_TEST(allocations_counted_by_hooks_are_skipped_in_events)
{
	/* invokevirtual; dup; sipush; invokestatic */
	static const unsigned char hooked_code[] = { 0xb6, 0, 1, 0x59, 0x11, 0, 5, 0xb8, 0, 2 };
	static const unsigned char code[] = { 0xb6, 0, 1, 0x59, 0x4c, 0xb1 };
	struct fake_object accessor = {
		.signature = "Lsun/reflect/NativeConstructorAccessorImpl;",
	};
	struct fake_method clone = METHOD(&object_class, "clone", "()Ljava/lang/Object;");
	struct fake_method other = METHOD(&class_class, "clone", "()Ljava/lang/Object;");
	struct fake_method make_it = METHOD(&accessor, "newInstance0", "()V");
	struct fake_method hooked = METHOD(&thread_class, "hooked", "()V", CODE(hooked_code));
	struct fake_method plain = METHOD(&thread_class, "plain", "()V", CODE(code));

	ck_assert_uint_eq(vm_alloc(&clone, &hooked, 0).objects, 0);
	ck_assert_uint_eq(vm_alloc(&clone, &plain, 0).objects, 1);
	ck_assert_uint_eq(vm_alloc(&other, &hooked, 0).objects, 1);
	ck_assert_uint_eq(vm_alloc(&make_it, &plain, 0).objects, 0);
	ck_assert_uint_eq(vm_alloc(&run, &plain, 0).bytes, 24);
	ck_assert_uint_eq(vm_alloc(&run, &plain, 0).frames, 2);
	begin(0);
	fake.exception = true;
	profile.callbacks.VMObjectAlloc(profile.ti, fake_jni(0), NULL, (jobject)&objects[1],
					(jclass)&classes[1], 24);
	fake.exception = false;
	off();
	assert_sum(NULL, 0, 0);
	release();
}
END_TEST

/* The stack of a virtual thread that unmounts is not walked: the thread would wait for itself. */
START_TEST(unmounting_virtual_thread_has_no_stack)
{
	struct fake_object thread = { .class = &virtual_class };

	begin(0);
	fake_current = &thread;
	make(0, 1);
	ck_assert_uint_eq(fake.walks, 0);
	thread.fields[0].l = (jobject)&thread_class;
	make(0, 1);
	ck_assert_uint_eq(fake.walks, 1);
	off();
	ck_assert_uint_eq(sum_of("Lp/C1;").objects, 2);
	ck_assert_uint_eq(sum_of("Lp/C1;").sites, 2);
	fake_current = &thread_class;
	release();
}
END_TEST

/* Globs */

START_TEST(globs_match_java_names)
{
	static const struct {
		const char *glob, *signature;
		bool wanted;
	} rows[] = {
		{ "p.A", "Lp/A;", true }, { "p.A", "Lp/AB;", false }, { "p.A", "[Lp/A;", false },
		{ "p.*", "Lp/q/A;", true }, { "p.*", "[Lp/A;", true }, { "*", "[[J", true },
		{ "*[]", "[Lp/A;", true }, { "*[]", "Lp/A;", false }, { "int[]", "[I", true },
		{ "int[]", "[[I", false }, { "int[][]", "[[I", true }, { "p.?", "Lp/A;", true },
		{ "p.?", "Lp/AB;", false }, { "*.A*B", "Lp/AxB;", true }, { "**", "[Z", true },
		{ "*.A*B", "Lp/AxBc;", false }, { "", "Lp/A;", false },
		{ "p.?", "Lp/\xc3\xa4;", true },
		{ "p.??", "Lp/\xc3\xa4;", false }, { "*aab", "Lp/aaab;", true },
		/* U+1F600: a surrogate pair in the JVM's names, UTF-8 in the client's globs */
		{ "p.?", "Lp/\xed\xa0\xbd\xed\xb8\x80;", true },
		{ "p.??", "Lp/\xed\xa0\xbd\xed\xb8\x80;", false },
		{ "p.\xf0\x9f\x98\x80[]", "[Lp/\xed\xa0\xbd\xed\xb8\x80;", true },
		{ "boolean[]", "[Z", true }, { "short*", "[S", true }, { "p.A$*", "Lp/A$B;", true },
		/* invalid names, of classes that the JVM has not parsed yet */
		{ "*Zzz", "L", false }, { "*Zzz", "[[L", false }, { "*Zzz", "L;", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *const globs[] = { "no.such", rows[i].glob };
		struct ag_alloc_profile p = { .wanted = { .globs = globs, .n_globs = 2 } };

		ck_assert_msg(ag_exact_wants(&p, rows[i].signature, strlen(rows[i].signature)) ==
			      rows[i].wanted, "%s and %s", rows[i].glob, rows[i].signature);
	}
}
END_TEST

START_TEST(other_classes_are_not_counted)
{
	static const char *const globs[] = { "p.C1?", "long[][]" };
	struct fake_object inner = { .len = 1 };
	struct fake_object outer = { .len = 2, .elements = ELEMENTS(&inner) };

	ck_assert_int_eq(try_begin(MEM, 0, globs, 2), 0);
	for (int i = 0; i < 2000; i++)
		make(0, i % 200);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&outer,
		       (jint)place(AG_ARRAY_SITE_ARRAYS, "[[J", NULL));
	ag_hook_array(fake_jni(0), NULL, (jobject)&inner, 1,
		      (jint)place(AG_ARRAY_SITE_ARRAY, "[J", NULL));
	off();
	ck_assert_uint_eq(sum_of(NULL).objects, 101);
	assert_sum("[[J", 1, 24);
	assert_sum("Lp/C13;", 10, 10 * 24);
	release();
}
END_TEST

/* Failures */

START_TEST(second_profile_is_rejected)
{
	struct ag_alloc_profile first;

	begin(0);
	first = profile;
	first.exact->profile = &first;
	ck_assert_int_eq(try_begin(MEM, 0, NULL, 0), -1);
	ck_assert_ptr_nonnull(strstr(jvm.err.why, "is running"));
	ag_clear_error(&jvm);
	ag_exact_free(&jvm, &profile);
	ag_arena_release(&profile.arena, &mem);
	profile = first;
	off();
	release();
}
END_TEST

START_TEST(each_call_at_the_begin_may_fail)
{
	unsigned n;

	fake.n_loaded = 40;
	for (n = 1; ; n++) {
		fake.calls = 0;
		fake.fail_at = n;
		if (try_begin(MEM, 0, NULL, 0) == 0) {
			off();
			if (fake.calls < n)
				break;
		} else {
			ck_assert_ptr_nonnull(jvm.err.what);
		}
		ag_clear_error(&jvm);
		release();
	}
	release();
	ck_assert_uint_gt(n, 60);
	fake.fail_at = 0;
	instrumentation_fails = true;
	ck_assert_int_eq(try_begin(MEM, 0, NULL, 0), -1);
	ck_assert_str_eq(jvm.err.what, "weave");
	ag_clear_error(&jvm);
	release();
}
END_TEST

/* If a call fails, each object is still counted, or counted as dropped. */
START_TEST(each_call_in_hooks_may_fail)
{
	struct fake_object array = { .class = &classes[3], .size = 24, .len = 0 };

	unsigned calls = 1;

	fake.n_loaded = 4;
	for (unsigned n = 1; n <= calls; n++) {
		uint32_t number;

		fake.fail_at = 0;
		begin(0);
		number = place(AG_ARRAY_SITE_RESULT, NULL, NULL);
		fake.calls = 0;
		fake.fail_at = n;
		for (int i = 0; i < 5; i++) {
			make(0, 7);
			make(0, 8);
			ag_hook_result(fake_jni(0), NULL, (jobject)&array, (jint)number);
		}
		calls = fake.calls;
		fake.fail_at = 0;
		off();
		ck_assert_uint_eq(sum_of(NULL).objects + profile.dropped, 15);
		ck_assert_uint_ge(sum_of(NULL).objects, 14);
		release();
	}
	ck_assert_uint_gt(calls, 50);
}
END_TEST

/* A thread is suspended in a hook: the memory that it reads is not freed. */

static pthread_mutex_t suspended = PTHREAD_MUTEX_INITIALIZER;
static volatile bool arrived;

static void hang(void)
{
	__atomic_store_n(&arrived, true, __ATOMIC_RELEASE);
	(void)pthread_mutex_lock(&suspended);
	(void)pthread_mutex_unlock(&suspended);
}

static void *make_one(void *arg)
{
	(void)arg;
	set_stack(&object_init, &run, 1);
	make(3, 1);
	return NULL;
}

START_TEST(suspended_hook_retains_its_memory)
{
	struct ag_alloc_profile first;
	pthread_t thread;

	fake.n_loaded = 3; /* without VirtualThread: a reference to it would remain */
	begin(0);
	(void)pthread_mutex_lock(&suspended);
	fake.in_stack_trace = hang;
	ck_assert_int_eq(pthread_create(&thread, NULL, make_one, NULL), 0);
	while (!__atomic_load_n(&arrived, __ATOMIC_ACQUIRE))
		;
	off();
	ck_assert_uint_eq(profile.left, 1);
	fake.in_stack_trace = NULL;
	first = profile; /* restored below: the hook still reads `profile` */
	ag_exact_free(&jvm, &profile);
	ck_assert_ptr_null(profile.exact);
	profile.exact = first.exact;
	(void)pthread_mutex_unlock(&suspended);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	profile.exact = NULL;
	release();
	begin(0);
	make(3, 1);
	off();
	assert_sum("Lp/C1;", 1, 24);
	release();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/jvm/alloc/alloc_hooks");
	TCase *tests = tcase_create("hooks"), *threads = tcase_create("threads");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tests, start, NULL);
	tcase_add_checked_fixture(threads, start, NULL);
	tcase_set_timeout(tests, 60); /* with sanitizers on a busy machine */
	tcase_set_timeout(threads, 60);
	tcase_add_test(tests, objects_are_counted_by_class);
	tcase_add_test(tests, stacks_divide_the_objects_of_a_class);
	tcase_add_test(tests, walks_beyond_their_budget_are_few);
	tcase_add_test(threads, threads_count_concurrently);
	tcase_add_test(threads, profiles_begin_and_end_while_threads_count);
	tcase_add_test(tests, tables_grow);
	tcase_add_test(tests, objects_without_memory_are_counted_as_dropped);
	tcase_add_test(tests, stacks_without_memory_are_noted);
	tcase_add_test(tests, hashes_are_shared);
	tcase_add_test(tests, many_hashes_are_shared);
	tcase_add_test(tests, array_sizes_are_measured);
	tcase_add_test(tests, arrays_of_arrays_are_counted);
	tcase_add_test(tests, each_live_object_is_marked);
	tcase_add_test(tests, site_numbers_are_valid_in_one_profile);
	tcase_add_test(tests, clones_by_java_lang_object_are_counted);
	tcase_add_test(tests, constructor_chains_are_skipped_in_stacks);
	tcase_add_test(tests, allocations_counted_by_hooks_are_skipped_in_events);
	tcase_add_test(tests, unmounting_virtual_thread_has_no_stack);
	tcase_add_test(tests, globs_match_java_names);
	tcase_add_test(tests, other_classes_are_not_counted);
	tcase_add_test(tests, second_profile_is_rejected);
	tcase_add_test(tests, each_call_at_the_begin_may_fail);
	tcase_add_test(tests, each_call_in_hooks_may_fail);
	tcase_add_test(threads, suspended_hook_retains_its_memory);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, threads);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
