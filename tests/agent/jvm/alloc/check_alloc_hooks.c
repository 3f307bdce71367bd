/*
 * Hooks of exact profiles, called as instrumented code would, in a JVM that is made for them: that
 * sums are exact, whatever threads do at once, and however little memory there is.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_exact.h"
#include "jvm/profile_exact_state.h"

#define MEM ((size_t)64 << 20)
#define CLASSES 6000
#define OWN (FAKE_THREADS - 1)

static struct ag_mem mem = { .budget = 3 * MEM };
static struct ag_jvm jvm;
static struct ag_profile profile;
static struct fake_thing classes[CLASSES], objects[CLASSES], *loaded[CLASSES + 4];
static char signatures[CLASSES][24];

/* What the hooks' neighbours do */

static struct ag_weaving *const no_weaving = (struct ag_weaving *)(void *)&profile;
static bool weaving_fails;
static uint32_t marked_site, marked;

int ag_profile_listen(struct ag_jvm *of, struct ag_profile *p, jvmtiEvent event)
{
	(void)of, (void)p, (void)event;
	return 0;
}

void ag_live_mark(struct ag_profile *p, jobject object, uint32_t site, uint64_t interval)
{
	(void)p, (void)object, (void)interval;
	marked_site = site;
	marked++;
}

struct ag_weaving *ag_weaving_in(struct ag_jvm *of, struct ag_profile *p)
{
	(void)p;
	if (!weaving_fails)
		return no_weaving;
	(void)ag_fail(of, "weave", "so it is");
	return NULL;
}

void ag_weaving_tick(struct ag_jvm *of, struct ag_weaving *weaving)
{
	(void)of, (void)weaving;
}

void ag_weaving_out(struct ag_jvm *of, struct ag_weaving *weaving, jvmtiError *code)
{
	(void)of, (void)weaving;
	*code = JVMTI_ERROR_NONE;
}

void ag_weaving_count(const struct ag_weaving *weaving, uint32_t *hooked, uint32_t *refused)
{
	(void)weaving;
	*hooked = 7;
	*refused = 2;
}

int ag_weaving_notes(const struct ag_weaving *weaving, ag_profile_note_fn *tell, void *arg)
{
	(void)weaving, (void)tell, (void)arg;
	return 0;
}

void ag_weaving_free(struct ag_jvm *of, struct ag_weaving *weaving)
{
	(void)of, (void)weaving;
}

/* Profiles */

static struct fake_method object_init = { &fake_object, "<init>", "()V",
	(const unsigned char *)"\xb1", 1 };
static struct fake_method run = { &fake_thread, "run", "()V",
	(const unsigned char *)"\x00\x00\xb1", 3 };

static jmethodID id_of(struct fake_method *method)
{
	return (jmethodID)(void *)method;
}

static void set_stack(struct fake_method *top, struct fake_method *next, jlocation at)
{
	fake_current = &fake_thread;
	fake_depth = 0;
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ NULL, -1 };
	if (top)
		fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(top), 9 };
	fake_stack[fake_depth++] = (jvmtiFrameInfo){ id_of(next), at };
}

static void start(void)
{
	fake = (struct fake_exact){ .align = 8, .header = 16, .reference = 4, .loaded = loaded,
		.n_loaded = CLASSES + 4 };
	loaded[0] = &fake_object;
	loaded[1] = &fake_class;
	loaded[2] = &fake_thread;
	loaded[3] = &fake_virtual;
	for (int i = 0; i < CLASSES; i++) {
		(void)snprintf(signatures[i], sizeof(signatures[i]), "Lp/C%d;", i);
		classes[i] = (struct fake_thing){ .class = &fake_class, .super = &fake_object,
			.signature = signatures[i], .hash = 1000 + i * 7919 };
		objects[i] = (struct fake_thing){ .class = &classes[i], .size = 16 + 8 * (i % 4) };
		loaded[4 + i] = &classes[i];
	}
	jvm = (struct ag_jvm){ .ti = fake_ti(), .jni = fake_jni(OWN), .mem = &mem };
	for (unsigned i = 0; i < FAKE_THREADS; i++)
		(void)fake_jni(i);
	weaving_fails = false;
	marked = 0;
	set_stack(&object_init, &run, 1);
}

static int try_begin(size_t memory, uint32_t flags, const char *const *globs, uint32_t n_globs)
{
	profile = (struct ag_profile){ .ti = fake_ti(), .own = jvm.jni, .wanted = {
		.flags = WIRE_ALLOC_EXACT | flags, .depth = 8, .globs = globs, .n_globs = n_globs,
	} };
	ck_assert_int_eq(ag_arena_init(&profile.arena, &mem, memory), 0);
	profile.kinds = ag_kinds_new(&profile.arena);
	ck_assert_ptr_nonnull(profile.kinds);
	ck_assert_int_eq(ag_sites_init(&profile.sites, &profile.arena), 0);
	return ag_exact_on(&jvm, &profile);
}

static void begin(uint32_t flags)
{
	ck_assert_int_eq(try_begin(MEM, flags, NULL, 0), 0);
}

static void release(void)
{
	if (profile.exact)
		ag_exact_free(&jvm, &profile);
	ag_kinds_release(profile.kinds, jvm.jni);
	ag_arena_release(&profile.arena, &mem);
	ck_assert_uint_eq(mem.bytes, 0);
	ck_assert_int_eq(fake.blocks, 0);
	ck_assert_int_eq(fake.references, 0);
	ck_assert_int_eq(fake.globals, 0);
	ck_assert_int_eq(fake.weak, 0);
	ck_assert_int_eq(fake.frames, 0);
	ck_assert(!fake.exception);
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
	uint32_t sites, frames; /* the latter of the last one */
	const uint64_t *methods;
};

/* Of all sites of a class; NULL: of all. */
static struct sum sum_of(const char *signature)
{
	struct sum sum = { 0 };
	struct ag_profile_site site;

	for (uint32_t i = 0; ag_sites_get(&profile.sites, i, &site); i++) {
		if (signature && strcmp(ag_kinds_signature(profile.kinds, site.kind), signature))
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

static uint32_t place(enum ag_place_kind kind, const char *signature, const char *owner)
{
	uint32_t number = ag_hooks_place(profile.exact, kind, signature,
					 signature ? strlen(signature) : 0, owner,
					 owner ? strlen(owner) : 0);

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
	ck_assert_uint_eq(sum.frames, 1); /* without the hook's and the constructor's */
	ck_assert_ptr_eq((void *)(uintptr_t)sum.methods[0], &run);
	ck_assert_uint_gt(fake.walks, 3 * AG_WALK_ALL);
	ck_assert_uint_lt(fake.walks, 30000);
	make(0, 1);
	off();
	assert_sum(NULL, 200000, 50000 * 16 + 150000 * 24);
	release();
}
END_TEST

/* The first ones divide exactly, however they are mixed; later ones about as they are. */
START_TEST(stacks_divide_them)
{
	static struct fake_method other = { &fake_thread, "other", "()V",
		(const unsigned char *)"\xb1", 1 };
	struct ag_profile_site site;
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
	ck_assert_uint_gt(of_run, 633000);
	ck_assert_uint_lt(of_run, 700000);
	assert_sum(NULL, 1001000, 1001000 * 24);
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

START_TEST(threads_count_at_once)
{
	pthread_t threads[N_WORKERS];
	struct ag_profile_state state = { 0 };
	uint64_t bytes = 0;

	begin(0);
	shared_place = place(AG_PLACE_ARRAY, "[I", NULL);
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
	for (; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++)
		make((unsigned)(uintptr_t)arg, (int)(n % 50));
	return NULL;
}

/* Profiles come and go while threads go on: none sees another's. */
START_TEST(profiles_come_and_go_meanwhile)
{
	pthread_t threads[4];
	uint64_t before;

	stop = false;
	for (uintptr_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work_on, (void *)i), 0);
	for (int i = 0; i < 30; i++) {
		begin(0);
		off();
		before = sum_of(NULL).objects;
		off();
		ck_assert_uint_eq(sum_of(NULL).objects, before);
		ag_exact_free(&jvm, &profile);
		ag_kinds_release(profile.kinds, jvm.jni);
		ag_arena_release(&profile.arena, &mem);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_int_eq(fake.references, 0);
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

/* What there is no room for is counted: nothing is lost without a word. */
START_TEST(memory_ends)
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

/* Of a class that is counted, stacks without room are told of: their figures are elsewhere. */
START_TEST(stacks_have_no_room)
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

/* Two classes have the same hash: from the beginning, and when one is loaded meanwhile. */
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

/* So many that there is no list of them any more. */
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

START_TEST(sizes_are_measured)
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
			uint32_t number = place(AG_PLACE_ARRAY, types[t], NULL);

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
	struct fake_thing inner = { .len = 4 }, middle = { .len = 3, .elements = { &inner } };
	struct fake_thing outer = { .len = 2, .elements = { &middle } };
	struct fake_thing rest = { .len = 3, .elements = { NULL } }, none = { .len = 0 };
	jint number;

	begin(0);
	number = (jint)place(AG_PLACE_ARRAYS, "[[[S", NULL);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&outer, number);
	number = (jint)place(AG_PLACE_ARRAYS, "[[J", NULL);
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

START_TEST(each_one_is_marked)
{
	struct fake_thing inner = { .len = 4 }, second = { .len = 4 };
	struct fake_thing outer = { .len = 2, .elements = { &inner, &second } };

	begin(WIRE_ALLOC_LIVE);
	for (int i = 0; i < 5000; i++)
		make(0, 1);
	ck_assert_uint_eq(marked, 5000);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&outer, (jint)place(AG_PLACE_ARRAYS, "[[I",
								       NULL));
	ck_assert_uint_eq(marked, 5003);
	off();
	assert_sum("[I", 2, 2 * 32);
	release();
}
END_TEST

/* Code of a profile that has ended, and numbers that are none. */
START_TEST(numbers_are_one_profiles)
{
	uint32_t old, number;

	begin(0);
	old = place(AG_PLACE_ARRAY, "[I", NULL);
	off();
	release();
	begin(0);
	number = place(AG_PLACE_ARRAY, "[J", NULL);
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

static void clone_of(struct fake_thing *class, enum ag_place_kind kind, const char *owner)
{
	struct fake_thing copy = { .class = class, .size = 24, .len = 1 };
	uint32_t number = place(kind, NULL, owner);

	for (int i = 0; i < 3; i++)
		ag_hook_result(fake_jni(0), NULL, (jobject)&copy, (jint)number);
}

START_TEST(copies_count_where_objects_own_clone_makes_them)
{
	static struct fake_method clone = { NULL, "clone", "()Ljava/lang/Object;", NULL, 0 };
	static struct fake_method bridge = { NULL, "clone", "()Lp/A;", NULL, 0 };
	struct fake_thing plain = { .class = &fake_class, .signature = "Lp/Plain;", .hash = 11,
		.super = &fake_object, .clone = &bridge };
	struct fake_thing over = { .class = &fake_class, .signature = "Lp/Over;", .hash = 12,
		.super = &fake_object, .clone = &clone };
	struct fake_thing child = { .class = &fake_class, .signature = "Lp/Child;", .hash = 13,
		.super = &over };
	struct fake_thing ints = { .class = &fake_class, .signature = "[I", .hash = 14,
		.super = &fake_object };

	fake_object.clone = &clone;
	begin(0);
	clone_of(&plain, AG_PLACE_CLONE, "p/Plain");
	clone_of(&over, AG_PLACE_CLONE, "p/Over");
	clone_of(&child, AG_PLACE_CLONE, "p/Child");
	clone_of(&child, AG_PLACE_CLONE_SPECIAL, "p/Over");
	clone_of(&ints, AG_PLACE_CLONE, "[I");
	clone_of(&ints, AG_PLACE_CLONE, "p/Over"); /* another's idea of a clone */
	clone_of(&plain, AG_PLACE_CLONE, "p/Over");
	off();
	assert_sum("Lp/Plain;", 3, 72);
	assert_sum("[I", 3, 72);
	assert_sum("Lp/Over;", 0, 0);
	assert_sum("Lp/Child;", 0, 0);
	release();
	begin(0);
	clone_of(&over, AG_PLACE_CLONE_SPECIAL, "java/lang/Object");
	clone_of(&child, AG_PLACE_CLONE_SPECIAL, "java/lang/Object");
	clone_of(&ints, AG_PLACE_CLONE, "java/lang/Object");
	clone_of(&plain, AG_PLACE_RESULT, NULL);
	off();
	assert_sum("Lp/Over;", 3, 72);
	assert_sum("Lp/Child;", 3, 72);
	assert_sum("[I", 3, 72);
	assert_sum("Lp/Plain;", 3, 72);
	release();
	fake_object.clone = NULL;
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

START_TEST(constructors_on_the_way_are_left_out)
{
	struct fake_method constructor = { &classes[1], "<init>", "()V", constructor_code,
		sizeof(constructor_code) };

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

START_TEST(what_hooks_tell_the_vm_does_not)
{
	/* invokevirtual; dup; sipush; invokestatic */
	static const unsigned char hooked_code[] = { 0xb6, 0, 1, 0x59, 0x11, 0, 5, 0xb8, 0, 2 };
	static const unsigned char code[] = { 0xb6, 0, 1, 0x59, 0x4c, 0xb1 };
	struct fake_thing accessor = { .signature = "Lsun/reflect/NativeConstructorAccessorImpl;" };
	struct fake_method clone = { &fake_object, "clone", "()Ljava/lang/Object;", NULL, 0 };
	struct fake_method other = { &fake_class, "clone", "()Ljava/lang/Object;", NULL, 0 };
	struct fake_method make_it = { &accessor, "newInstance0", "()V", NULL, 0 };
	struct fake_method hooked = { &fake_thread, "hooked", "()V", hooked_code,
		sizeof(hooked_code) };
	struct fake_method plain = { &fake_thread, "plain", "()V", code, sizeof(code) };

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

/* Its stack is not asked for: that would wait for itself. */
START_TEST(a_virtual_thread_that_is_moved_has_no_stack)
{
	struct fake_thing thread = { .class = &fake_virtual };

	begin(0);
	fake_current = &thread;
	make(0, 1);
	ck_assert_uint_eq(fake.walks, 0);
	fake.carrier = &fake_thread;
	make(0, 1);
	ck_assert_uint_eq(fake.walks, 1);
	off();
	ck_assert_uint_eq(sum_of("Lp/C1;").objects, 2);
	ck_assert_uint_eq(sum_of("Lp/C1;").sites, 2);
	fake_current = &fake_thread;
	release();
}
END_TEST

/* Globs */

START_TEST(globs_are_of_java_names)
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
		{ "boolean[]", "[Z", true }, { "short*", "[S", true }, { "p.A$*", "Lp/A$B;", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *const globs[] = { "no.such", rows[i].glob };
		struct ag_profile p = { .wanted = { .globs = globs, .n_globs = 2 } };

		ck_assert_msg(ag_exact_wants(&p, rows[i].signature, strlen(rows[i].signature)) ==
			      rows[i].wanted, "%s and %s", rows[i].glob, rows[i].signature);
	}
}
END_TEST

START_TEST(others_are_not_counted)
{
	static const char *const globs[] = { "p.C1?", "long[][]" };
	struct fake_thing inner = { .len = 1 }, outer = { .len = 2, .elements = { &inner } };

	ck_assert_int_eq(try_begin(MEM, 0, globs, 2), 0);
	for (int i = 0; i < 2000; i++)
		make(0, i % 200);
	ag_hook_arrays(fake_jni(0), NULL, (jobject)&outer,
		       (jint)place(AG_PLACE_ARRAYS, "[[J", NULL));
	ag_hook_array(fake_jni(0), NULL, (jobject)&inner, 1,
		      (jint)place(AG_PLACE_ARRAY, "[J", NULL));
	off();
	ck_assert_uint_eq(sum_of(NULL).objects, 101);
	assert_sum("[[J", 1, 24);
	assert_sum("Lp/C13;", 10, 10 * 24);
	release();
}
END_TEST

/* When something fails */

START_TEST(one_at_a_time)
{
	struct ag_profile first;

	begin(0);
	first = profile;
	first.exact->profile = &first;
	ck_assert_int_eq(try_begin(MEM, 0, NULL, 0), -1);
	ck_assert_ptr_nonnull(strstr(jvm.err.why, "does already"));
	ag_forgive(&jvm);
	ag_exact_free(&jvm, &profile);
	ag_arena_release(&profile.arena, &mem);
	profile = first;
	off();
	release();
}
END_TEST

START_TEST(beginning_fails)
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
		ag_forgive(&jvm);
		release();
	}
	release();
	ck_assert_uint_gt(n, 60);
	fake.fail_at = 0;
	weaving_fails = true;
	ck_assert_int_eq(try_begin(MEM, 0, NULL, 0), -1);
	ck_assert_str_eq(jvm.err.what, "weave");
	ag_forgive(&jvm);
	release();
}
END_TEST

/* Whatever call fails: each object is counted, or told to be missing. */
START_TEST(calls_in_hooks_fail)
{
	struct fake_thing array = { .class = &classes[3], .size = 24, .len = 0 };

	fake.n_loaded = 4;
	for (unsigned n = 1; n < 60; n++) {
		uint32_t number;

		fake.fail_at = 0;
		begin(0);
		number = place(AG_PLACE_RESULT, NULL, NULL);
		fake.calls = 0;
		fake.fail_at = n;
		for (int i = 0; i < 5; i++) {
			make(0, 7);
			make(0, 8);
			ag_hook_result(fake_jni(0), NULL, (jobject)&array, (jint)number);
		}
		fake.fail_at = 0;
		off();
		ck_assert_uint_eq(sum_of(NULL).objects + profile.dropped, 15);
		ck_assert_uint_ge(sum_of(NULL).objects, 14);
		release();
	}
}
END_TEST

/* A thread is suspended in a hook: what it looks at stays. */

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

START_TEST(a_hook_does_not_come_back)
{
	struct ag_profile first;
	pthread_t thread;

	fake.n_loaded = 3; /* the reference to java.lang.VirtualThread would stay, too */
	begin(0);
	(void)pthread_mutex_lock(&suspended);
	fake.meanwhile = hang;
	ck_assert_int_eq(pthread_create(&thread, NULL, make_one, NULL), 0);
	while (!__atomic_load_n(&arrived, __ATOMIC_ACQUIRE))
		;
	off();
	ck_assert_uint_eq(profile.left, 1);
	fake.meanwhile = NULL;
	first = profile; /* as profile.c leaves it; the hook looks at `profile` */
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
	Suite *suite = suite_create("profile_hooks");
	TCase *tests = tcase_create("hooks");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tests, start, NULL);
	tcase_add_test(tests, objects_are_counted_by_class);
	tcase_add_test(tests, stacks_divide_them);
	tcase_add_test(tests, threads_count_at_once);
	tcase_add_test(tests, profiles_come_and_go_meanwhile);
	tcase_add_test(tests, tables_grow);
	tcase_add_test(tests, memory_ends);
	tcase_add_test(tests, stacks_have_no_room);
	tcase_add_test(tests, hashes_are_shared);
	tcase_add_test(tests, many_hashes_are_shared);
	tcase_add_test(tests, sizes_are_measured);
	tcase_add_test(tests, arrays_of_arrays_are_counted);
	tcase_add_test(tests, each_one_is_marked);
	tcase_add_test(tests, numbers_are_one_profiles);
	tcase_add_test(tests, copies_count_where_objects_own_clone_makes_them);
	tcase_add_test(tests, constructors_on_the_way_are_left_out);
	tcase_add_test(tests, what_hooks_tell_the_vm_does_not);
	tcase_add_test(tests, a_virtual_thread_that_is_moved_has_no_stack);
	tcase_add_test(tests, globs_are_of_java_names);
	tcase_add_test(tests, others_are_not_counted);
	tcase_add_test(tests, one_at_a_time);
	tcase_add_test(tests, beginning_fails);
	tcase_add_test(tests, calls_in_hooks_fail);
	tcase_add_test(tests, a_hook_does_not_come_back);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
