/*
 * Complete sessions in a fake JVM: the results of a histogram, and that a session leaves nothing in
 * the JVM when any of its calls fails.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/fake/converse.h"
#include "agent/fake/peer.h"
#include "cmd/command.h"
#include "jvm/heap/histo_internal.h"
#include "jvm/jni_refs.h"

#define ROWS_MAX 32

struct row {
	uint32_t loader, module;
	char signature[64];
	uint64_t instances, bytes;
};

/* The frames of a session as a client reads them. */
struct seen {
	jint refused;
	bool hello, error, end, gone, late;
	uint32_t n_loaders, n_modules, n_rows, method;
	struct row rows[ROWS_MAX];
	uint64_t resolved;
	char loader_name[64];
};

/* A request for a histogram. */
struct request {
	uint32_t flags;
	const char *signature;
	uint32_t pause_ms;
};

static void ask(int fd, const void *arg)
{
	const struct request *request = arg;
	uint8_t data[100];
	struct wire_writer w = wire_writer_init(data, sizeof(data));

	wire_put_u32(&w, request->flags);
	wire_put_text(&w, request->signature, strlen(request->signature));
	wire_put_u32(&w, request->pause_ms);
	peer_send(fd, WIRE_HISTO, &w);
}

static void read_classes(struct seen *seen, struct wire_reader *r)
{
	uint32_t n = wire_get_u32(r);

	for (uint32_t i = 0; i < n; i++) {
		struct row *row = &seen->rows[seen->n_rows++];

		ck_assert_uint_lt(seen->n_rows, ROWS_MAX);
		row->loader = wire_get_u32(r);
		row->module = wire_get_u32(r);
		copy_text(row->signature, sizeof(row->signature), wire_get_text(r));
		row->instances = wire_get_u64(r);
		row->bytes = wire_get_u64(r);
		ck_assert_uint_le(row->loader, seen->n_loaders);
		ck_assert_uint_le(row->module, seen->n_modules);
		ck_assert_uint_gt(row->instances, 0);
	}
}

static void take(void *arg, uint16_t type, struct wire_reader *r)
{
	struct seen *seen = arg;

	switch (type) {
	case WIRE_LOADER:
		ck_assert_uint_eq(wire_get_u32(r), ++seen->n_loaders);
		(void)wire_get_text(r);
		copy_text(seen->loader_name, sizeof(seen->loader_name), wire_get_text(r));
		(void)wire_get_u32(r);
		break;
	case WIRE_MODULE:
		ck_assert_uint_eq(wire_get_u32(r), ++seen->n_modules);
		(void)wire_get_text(r);
		break;
	case WIRE_HISTO_CLASSES:
		read_classes(seen, r);
		break;
	case WIRE_HISTO_END:
		seen->end = true;
		(void)wire_get_u64(r);
		seen->method = wire_get_u32(r);
		seen->resolved = wire_get_u64(r);
		ck_assert_uint_gt(wire_get_u64(r), 0);
		seen->late = wire_get_u32(r) != 0;
		break;
	default:
		ck_abort_msg("frame %u", type);
	}
}

static struct seen run_within(uint32_t pause_ms, uint32_t flags, const char *signature,
			      enum end end)
{
	const struct request request = { flags, signature, pause_ms };
	struct seen seen = { 0 };
	struct talk talk = {
		.ask = ask, .arg = &request, .end = end, .take = take, .seen = &seen
	};

	converse(&talk);
	seen.refused = talk.refused;
	seen.hello = talk.hello;
	seen.error = talk.errors > 0;
	seen.gone = talk.gone;
	return seen;
}

static struct seen run(uint32_t flags, const char *signature, enum end end)
{
	return run_within(60000, flags, signature, end);
}

static const struct row *find(const struct seen *seen, const char *signature, unsigned skip)
{
	for (uint32_t i = 0; i < seen->n_rows; i++) {
		if (strcmp(seen->rows[i].signature, signature) == 0 && skip-- == 0)
			return &seen->rows[i];
	}
	return NULL;
}

static void has(const struct seen *seen, const char *signature, unsigned skip, uint64_t instances,
		uint64_t bytes)
{
	const struct row *row = find(seen, signature, skip);

	ck_assert_msg(row != NULL, "no %s", signature);
	ck_assert_uint_eq(row->instances, instances);
	ck_assert_uint_eq(row->bytes, bytes);
}

static void is_whole(const struct seen *seen, uint32_t method)
{
	ck_assert_int_eq(seen->refused, 0);
	ck_assert(seen->hello && seen->end && seen->gone && !seen->error);
	ck_assert_uint_eq(seen->method, method);
	has(seen, "LApp;", 0, FAKE_APP_ONE, FAKE_APP_ONE * 24);
	has(seen, "LApp;", 1, FAKE_APP_TWO, FAKE_APP_TWO * 32);
	ck_assert_uint_ne(find(seen, "LApp;", 0)->loader, find(seen, "LApp;", 1)->loader);
}

static void is_full_histogram(const struct seen *seen, uint32_t method)
{
	is_whole(seen, method);
	has(seen, "LLate;", 0, FAKE_LATE, FAKE_LATE * 16);
	/* Not counted: the agent's thread, its name and lock, and the objects of klass_probe.c. */
	has(seen, "Ljava/lang/Thread;", 0, 1, 40);
	ck_assert_ptr_null(find(seen, "Ljava/lang/Object;", 0));
	ck_assert_ptr_null(find(seen, "[J", 0));
	ck_assert_ptr_null(find(seen, "[Ljava/lang/Object;", 0));
	ck_assert_uint_eq(seen->resolved, method == WIRE_WALK_KLASS ? 1 : FAKE_LATE);
	ck_assert_uint_eq(seen->n_loaders, 2);
	ck_assert_uint_eq(fake_tagged(), 0);
}

static void jvm_of(int release, enum fake_layout layout)
{
	heap_world_init(release, layout);
}

static void setup(void)
{
	jvm_of(21, FAKE_NARROW);
}

START_TEST(calibration_recognises_every_layout)
{
	for (int layout = FAKE_NARROW; layout <= FAKE_COMPACT; layout++) {
		for (int release = 17; release <= 21; release += 4) {
			struct seen seen;

			jvm_of(release, (enum fake_layout)layout);
			seen = run(WIRE_HISTO_MODULES, "", BYE);
			is_full_histogram(&seen, WIRE_WALK_KLASS);
			ck_assert_uint_eq(seen.n_modules, 2);
			heap_world_stop();
		}
	}
}
END_TEST

/* Before JDK 21, HotSpot reports the roots of other threads before those of the agent. */
START_TEST(calibration_continues_after_roots_of_other_threads)
{
	struct seen seen;

	jvm_of(17, FAKE_NARROW);
	heap_world.locals = 64;
	seen = run(WIRE_HISTO_MODULES, "", BYE);
	is_full_histogram(&seen, WIRE_WALK_KLASS);
	heap_world_stop();
}
END_TEST

static void falls_back(void)
{
	struct seen seen = run(0, "", BYE);

	is_whole(&seen, WIRE_WALK_TAGS);
	has(&seen, "LLate;", 0, FAKE_LATE, FAKE_LATE * 16);
	ck_assert_uint_eq(seen.n_modules, 0);
	ck_assert_uint_eq(fake_tagged(), 0);
	heap_world_stop();
}

START_TEST(unknown_layout_uses_tags)
{
	fake_heap.other_wrapper = true;
	falls_back();
	jvm_of(17, FAKE_NARROW);
	fake_heap.other_wrapper = true;
	falls_back();
	jvm_of(21, FAKE_WIDE);
	heap_world.two_klass_words = true;
	falls_back();
	jvm_of(21, FAKE_NARROW);
	fake.odd_references = true;
	falls_back();
}
END_TEST

/* A walk meets too many new classes: its results are dropped, and a second walk begins. */
START_TEST(too_many_new_classes_repeat_the_walk)
{
	struct seen seen;

	heap_world.crowd = 300;
	seen = run(0, "", BYE);
	is_whole(&seen, WIRE_WALK_KLASS);
	has(&seen, "LLate;", 0, FAKE_LATE + 300, (FAKE_LATE + 300) * 16);
	ck_assert_int_eq(heap_world.listings, 2);
	ck_assert_uint_eq(fake_tagged(), 0);
	heap_world_stop();
}
END_TEST

START_TEST(strict_histogram_does_not_calibrate)
{
	struct seen seen = run(WIRE_HISTO_STRICT, "", BYE);

	is_full_histogram(&seen, WIRE_WALK_TAGS);
	ck_assert_int_eq(fake_heap.collections, 0);
	heap_world_stop();
}
END_TEST

START_TEST(live_histogram_collects_first)
{
	struct seen seen = run(WIRE_HISTO_LIVE | WIRE_HISTO_STRICT, "", BYE);

	is_full_histogram(&seen, WIRE_WALK_TAGS);
	ck_assert_int_eq(fake_heap.collections, 1);
	heap_world_stop();
}
END_TEST

START_TEST(one_class_is_counted_for_each_loader)
{
	struct seen seen = run(0, "LApp;", BYE);

	is_whole(&seen, WIRE_WALK_CLASS);
	ck_assert_uint_eq(seen.n_rows, 2);
	ck_assert_uint_eq(seen.n_loaders, 2);
	heap_world_stop();
	seen = run(0, "LNone;", BYE);
	ck_assert(seen.end && seen.n_rows == 0);
	heap_world_stop();
}
END_TEST

/* One walk for each class with this name would take too long. */
START_TEST(one_class_of_many_loaders_uses_tags)
{
	struct seen seen = run(0, "LMany;", BYE);

	ck_assert(seen.end && !seen.error);
	ck_assert_uint_eq(seen.method, WIRE_WALK_TAGS);
	ck_assert_uint_eq(seen.n_rows, FAKE_MANY);
	for (unsigned i = 0; i < FAKE_MANY; i++)
		has(&seen, "LMany;", i, 1, 48);
	ck_assert_uint_eq(fake_tagged(), 0);
	heap_world_stop();
}
END_TEST

/* Replaces TRACE_STOP (--wrap).  Creates two references and, unless `leaks`, releases both. */
int __wrap_ag_cmd_trace_stop(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r);
static bool leaks;

int __wrap_ag_cmd_trace_stop(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *r)
{
	static struct fake_object object;
	jobject global = ag_ref_global(jvm->jni, (jobject)&object, &jvm->globals);
	jweak weak = ag_ref_weak(jvm->jni, (jobject)&object, &jvm->globals);

	(void)chan, (void)r;
	ag_ref_global_drop(jvm->jni, global, &jvm->globals);
	if (!leaks)
		ag_ref_weak_drop(jvm->jni, weak, &jvm->globals);
	return 0;
}

static void ask_twice(int fd, const void *arg)
{
	(void)arg;
	peer_send(fd, WIRE_TRACE_STOP, NULL);
	peer_send(fd, WIRE_TRACE_STOP, NULL);
}

START_TEST(global_references_left_are_reported)
{
	for (int i = 0; i < 2; i++) {
		struct talk talk = { .ask = ask_twice, .end = BYE, .take = take };

		setup();
		leaks = i;
		talk.leaked = leaks ? 2 : 0;
		converse(&talk);
		ck_assert(talk.gone);
		heap_world_stop();
	}
}
END_TEST

START_TEST(client_may_disconnect_at_any_time)
{
	(void)run(0, "", HANG_UP);
	heap_world_stop();
	(void)run(0, "", HANG_UP_EARLY);
	heap_world_stop();
}
END_TEST

static const struct {
	uint32_t flags;
	const char *signature;
	size_t iterated; /* objects reported before the walk ends */
} walks[] = {
	{ 0, "", AG_WALK_OBJECTS },
	{ WIRE_HISTO_STRICT, "", AG_WALK_OBJECTS },
	{ 0, "LApp;", AG_WALK_OBJECTS },
	{ 0, "LMany;", AG_WALK_OBJECTS },
};

START_TEST(walk_ends_at_the_maximum_pause)
{
	struct seen seen = run_within(0, walks[_i].flags, walks[_i].signature, BYE);

	ck_assert(seen.end && seen.late && seen.gone);
	ck_assert_uint_eq(seen.n_rows, 0);
	ck_assert_uint_eq(fake_heap.iterated, walks[_i].iterated);
	ck_assert_uint_eq(fake_tagged(), 0);
	heap_world_stop();
}
END_TEST

/* Reports more objects of new classes than the agent tags. */
static jvmtiError JNICALL iterate_new(jvmtiEnv *ti, jvmtiHeapObjectFilter filter,
				      jvmtiHeapObjectCallback callback, const void *user)
{
	jvmtiIterationControl control = JVMTI_ITERATION_CONTINUE;
	jlong tag;

	(void)ti, (void)filter;
	for (int i = 0; i < 70000 && control != JVMTI_ITERATION_ABORT; i++) {
		tag = 0;
		control = callback(0, 16, &tag, (void *)(uintptr_t)user);
	}
	return JVMTI_ERROR_NONE;
}

START_TEST(too_many_objects_of_new_classes_need_another_walk)
{
	static struct ag_mem mem = { .budget = 1 << 20 };
	const jvmtiCapabilities needed = { .can_tag_objects = 1 };
	struct ag_self_objects own = { .n = 0 };
	struct ag_classes classes;
	struct ag_census census;
	struct ag_chan chan;
	struct ag_jvm jvm;
	struct peer peer;

	heap_world_start();
	fake_ti_table.IterateOverHeap = iterate_new;
	jvm = (struct ag_jvm){ .vm = fake_vm(), .ti = fake_ti(), .jni = fake_jni(0), .mem = &mem };
	peer_open(&peer, &chan, &mem);
	census = (struct ag_census){ .limit = { .chan = &chan, .pause_ms = 60000 } };
	ck_assert_int_eq((*jvm.ti)->AddCapabilities(jvm.ti, &needed), JVMTI_ERROR_NONE);
	ck_assert_int_eq(ag_classes_get(&jvm, &classes), 0);
	ck_assert_int_eq(ag_histo_by_tag(&jvm, &classes, &own, &census), AG_INCOMPLETE);
	ag_census_release(&jvm, &census);
	ag_classes_release(&jvm, &classes);
	ck_assert_uint_eq(fake_tagged(), 0);
	peer_close(&peer);
	ag_chan_release(&chan);
	ag_chan_close(&chan);
	heap_world_stop();
}
END_TEST

START_TEST(walk_ends_when_the_client_disconnects)
{
	(void)run(walks[_i].flags, walks[_i].signature, HALF_CLOSE);
	ck_assert_uint_eq(fake_heap.iterated, walks[_i].iterated);
	heap_world_stop();
}
END_TEST

START_TEST(bad_options_are_refused)
{
	static const char *const bad[] = {
		NULL, "", ",", TOKEN, "," TOKEN, "/x" TOKEN, "/tmp/x;" TOKEN
	};
	static char longer[2000];

	heap_world_start();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(converse_attach(bad[i]), WIRE_REFUSED_OPTIONS);
	memset(longer, 'x', sizeof(longer) - 1);
	ck_assert_int_eq(converse_attach(longer), WIRE_REFUSED_OPTIONS);
	memcpy(longer + 150, "," TOKEN, sizeof("," TOKEN));
	ck_assert_int_eq(converse_attach(longer), WIRE_REFUSED_OPTIONS);
	ck_assert_int_eq(converse_attach("/no/such," TOKEN), WIRE_REFUSED_CONNECT);
	fake_nothing_left();
	heap_world_stop();
}
END_TEST

static uid_t other_user; /* 1: the agent's process has another user id than the client's */

uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);

uid_t __wrap_geteuid(void)
{
	return __real_geteuid() + other_user;
}

/* converse() checks that the agent has closed the connection. */
START_TEST(client_of_another_user_is_refused)
{
	struct seen seen;

	jvm_of(21, FAKE_NARROW);
	other_user = 1;
	seen = run(0, "", BYE);
	ck_assert_int_eq(seen.refused, WIRE_REFUSED_PEER);
	heap_world_stop();
}
END_TEST

/* If a call before the agent's thread fails, the code says whether the thread had an object. */
START_TEST(refusal_has_the_reason)
{
	unsigned n = 0, refused[32] = { 0 };
	struct seen seen;

	do {
		jvm_of(21, FAKE_NARROW);
		fake.fail_at = ++n;
		seen = run(0, "", BYE);
		ck_assert_int_lt(seen.refused, 32);
		refused[seen.refused]++;
		heap_world_stop();
	} while (seen.refused != 0);
	ck_assert_uint_gt(refused[WIRE_REFUSED_JVM], 0);
	ck_assert_uint_ge(refused[WIRE_REFUSED_HEAP], 2); /* the name and the thread */
	ck_assert_uint_ge(refused[WIRE_REFUSED_THREAD], 1);
}
END_TEST

/* Runs one session for each call that may fail; in this session, the call fails. */
static void fail_every_call(int release, uint32_t flags, const char *signature, bool leaving)
{
	unsigned n = 0, n_errors = 0;

	do {
		struct seen seen;

		jvm_of(release, FAKE_NARROW);
		fake.fail_at = ++n;
		fake.leaving = leaving;
		seen = run(flags, signature, BYE);
		if (leaving)
			ck_assert_msg(!seen.error, "call %u", n);
		/* A complete result, an error, or the end of the session. */
		if (seen.gone)
			ck_assert_msg(seen.end != seen.error, "call %u", n);
		n_errors += seen.error && seen.gone;
		heap_world_stop();
	} while (fake.calls >= n);
	ck_assert_uint_gt(n, 50);
	ck_assert(leaving || n_errors > 30);
}

START_TEST(each_call_may_fail)
{
	fail_every_call(21, WIRE_HISTO_MODULES, "", false);
	fail_every_call(17, WIRE_HISTO_LIVE, "", false);
	fail_every_call(21, WIRE_HISTO_STRICT, "", false);
	fail_every_call(21, 0, "LApp;", false);
	fail_every_call(21, 0, "LMany;", false);
}
END_TEST

START_TEST(the_jvm_may_exit_at_each_call)
{
	fail_every_call(21, WIRE_HISTO_MODULES, "", true);
	fail_every_call(17, WIRE_HISTO_STRICT, "", true);
	fail_every_call(21, 0, "LApp;", true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/session");
	TCase *c = tcase_create("session");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, calibration_recognises_every_layout);
	tcase_add_test(c, calibration_continues_after_roots_of_other_threads);
	tcase_add_test(c, unknown_layout_uses_tags);
	tcase_add_test(c, too_many_new_classes_repeat_the_walk);
	tcase_add_test(c, strict_histogram_does_not_calibrate);
	tcase_add_test(c, live_histogram_collects_first);
	tcase_add_test(c, one_class_is_counted_for_each_loader);
	tcase_add_test(c, one_class_of_many_loaders_uses_tags);
	tcase_add_test(c, global_references_left_are_reported);
	tcase_add_test(c, client_may_disconnect_at_any_time);
	tcase_add_test(c, too_many_objects_of_new_classes_need_another_walk);
	tcase_add_loop_test(c, walk_ends_at_the_maximum_pause, 0, sizeof(walks) / sizeof(walks[0]));
	tcase_add_loop_test(c, walk_ends_when_the_client_disconnects, 0,
			    sizeof(walks) / sizeof(walks[0]));
	tcase_add_test(c, bad_options_are_refused);
	tcase_add_test(c, client_of_another_user_is_refused);
	tcase_add_test(c, refusal_has_the_reason);
	tcase_add_test(c, each_call_may_fail);
	tcase_add_test(c, the_jvm_may_exit_at_each_call);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
