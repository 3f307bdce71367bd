/*
 * GRAPH in a fake JVM: the tape tells exactly what the walk reported, whatever ends it, and
 * nothing is left behind, whatever call fails.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/converse.h"
#include "agent/peer.h"
#include "jvm/vthreads.h"
#include "wire/tape.h"

#define CLASSES_MAX 64
#define METHODS_MAX 8
#define PAUSE_MS 60000

struct seen {
	char signatures[CLASSES_MAX][64];
	uint32_t n_classes, n_listed, n_loaders;
	uint8_t tape[1 << 18];
	size_t tape_len;
	char threads[200], methods[METHODS_MAX][64];
	uint32_t n_methods, n_ends, n_told_again;
	uint32_t outcome;
	uint64_t own_thread, peak;
};

static struct seen seen;

static void take_rows(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--) {
		for (int i = 0; i < 5; i++)
			(void)wire_get_u32(r);
		ck_assert_uint_lt(seen.n_classes, CLASSES_MAX);
		copy_text(seen.signatures[seen.n_classes++], sizeof(seen.signatures[0]),
			  wire_get_text(r));
	}
}

static void take_threads(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--) {
		size_t len = strlen(seen.threads);
		char name[64];
		uint64_t id = wire_get_u64(r);

		copy_text(name, sizeof(name), wire_get_text(r));
		snprintf(seen.threads + len, sizeof(seen.threads) - len, "%lu %s; ",
			 (unsigned long)id, name);
	}
}

static void take_methods(struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--) {
		char class[64], name[64];

		copy_text(class, sizeof(class), wire_get_text(r));
		copy_text(name, sizeof(name), wire_get_text(r));
		ck_assert_uint_lt(seen.n_methods, METHODS_MAX);
		snprintf(seen.methods[seen.n_methods++], sizeof(seen.methods[0]), "%.30s %.30s",
			 class, name);
	}
}

static void take_tape(struct wire_reader *r)
{
	size_t len = (size_t)(r->end - r->at);

	ck_assert_uint_le(seen.tape_len + len, sizeof(seen.tape));
	ck_assert_uint_gt(len, 0);
	memcpy(seen.tape + seen.tape_len, r->at, len);
	seen.tape_len += len;
	r->at = r->end;
}

static void take(void *arg, uint16_t type, struct wire_reader *r)
{
	(void)arg;
	switch (type) {
	case WIRE_LOADER:
		seen.n_loaders++;
		(void)wire_get_u32(r);
		(void)wire_get_text(r);
		(void)wire_get_text(r);
		(void)wire_get_u32(r);
		break;
	case WIRE_MODULE:
		(void)wire_get_u32(r);
		(void)wire_get_text(r);
		break;
	case WIRE_CLASS_ROWS:
		take_rows(r);
		break;
	case WIRE_CLASSES_END:
		seen.n_listed = wire_get_u32(r);
		break;
	case WIRE_TAPE:
		take_tape(r);
		break;
	case WIRE_GRAPH_THREADS:
		take_threads(r);
		break;
	case WIRE_GRAPH_METHODS:
		take_methods(r);
		break;
	case WIRE_GRAPH_END:
		seen.outcome = wire_get_u32(r);
		(void)wire_get_u64(r);
		(void)wire_get_u64(r);
		seen.own_thread = wire_get_u64(r);
		seen.peak = wire_get_u64(r);
		seen.n_ends++;
		break;
	case WIRE_CLASS_SUPER:
	case WIRE_CLASS_FIELD:
	case WIRE_CLASS_METHOD:
		r->at = r->end;
		break;
	case WIRE_CLASS_END:
		seen.n_told_again++;
		r->at = r->end;
		break;
	default:
		ck_abort_msg("frame %u", type);
	}
}

/* What is asked for. */
struct script {
	bool no_list;
	uint32_t pause_ms;
	uint64_t tape_max;
	uint32_t texts_from; /* 0: none */
	int graphs;          /* how often */
	int64_t class;       /* then, this one; -1: none */
};

static const struct script plain = { .pause_ms = PAUSE_MS, .tape_max = 1 << 20, .graphs = 1,
				     .class = -1 };

static void ask(int fd, const void *arg)
{
	const struct script *script = arg;
	uint8_t data[32];
	struct wire_writer w = wire_writer_init(data, sizeof(data));

	wire_put_u32(&w, 0);
	if (!script->no_list)
		peer_says(fd, WIRE_CLASSES, &w);
	for (int i = 0; i < script->graphs; i++) {
		w = wire_writer_init(data, sizeof(data));
		wire_put_u32(&w, script->texts_from ? WIRE_GRAPH_TEXTS : 0);
		wire_put_u32(&w, script->pause_ms);
		wire_put_u64(&w, script->tape_max);
		wire_put_u32(&w, script->texts_from);
		peer_says(fd, WIRE_GRAPH, &w);
	}
	if (script->class < 0)
		return;
	w = wire_writer_init(data, sizeof(data));
	wire_put_u32(&w, (uint32_t)script->class);
	peer_says(fd, WIRE_CLASS, &w);
}

static struct talk say(const struct script *script, enum end end)
{
	struct talk talk = { .ask = ask, .arg = script, .take = take, .seen = NULL, .end = end };

	memset(&seen, 0, sizeof(seen));
	converse(&talk);
	/* Tags go with the environment at the latest. */
	if (talk.errors == 0 && talk.gone)
		ck_assert_uint_eq(fake_tagged(), 0);
	return talk;
}

static void jvm_of(int release)
{
	fake = (struct fake_jvm){ .release = release };
}

/* The tape, record by record, beside what was reported. */
struct reading {
	struct tape_place place;
	const uint8_t *at;
	uint64_t classes[CLASSES_MAX]; /* address of each class; 0: not told */
	const void *methods[METHODS_MAX];
	uint32_t n_methods;
	uint64_t object; /* that is told of */
	size_t n_own, n_texts;
	bool in_weak;
};

static struct tape_record next(struct reading *r)
{
	struct tape_record record;

	r->at = tape_read(&r->place, r->at, seen.tape + seen.tape_len, &record);
	ck_assert_ptr_nonnull(r->at);
	return record;
}

static struct tape_record next_of(struct reading *r, enum tape_kind kind, uint64_t address)
{
	struct tape_record record = next(r);

	ck_assert_int_eq(record.kind, kind);
	ck_assert_uint_eq(record.address, address);
	return record;
}

static void expect_size(const struct tape_record *record, const struct fake_report *report)
{
	ck_assert_uint_eq(record->size, (uint64_t)report->size);
	ck_assert_int_eq(record->is_array, report->length >= 0);
	if (report->length >= 0)
		ck_assert_uint_eq(record->length, (uint32_t)report->length);
}

static void expect_roster(struct reading *r)
{
	for (uint32_t i = 0; i < seen.n_listed; i++) {
		struct tape_record record = next(r);

		ck_assert_int_eq(record.kind, TAPE_CLASS);
		ck_assert_uint_eq(record.class, i);
		r->classes[i] = record.address;
	}
	for (; *r->at % 16 == TAPE_OWN; r->n_own++)
		(void)next(r);
}

static void expect_method(struct reading *r, uint32_t number, const void *id)
{
	if (!id) {
		ck_assert_uint_eq(number, 0);
		return;
	}
	if (number == r->n_methods + 1)
		r->methods[r->n_methods++] = id;
	ck_assert_uint_le(number, r->n_methods);
	ck_assert_ptr_eq(r->methods[number - 1], id);
}

static void expect_root(struct reading *r, const struct fake_report *report)
{
	static const enum tape_root kinds[] = {
		[JVMTI_HEAP_REFERENCE_JNI_GLOBAL] = TAPE_ROOT_JNI_GLOBAL,
		[JVMTI_HEAP_REFERENCE_SYSTEM_CLASS] = TAPE_ROOT_CLASS,
		[JVMTI_HEAP_REFERENCE_MONITOR] = TAPE_ROOT_MONITOR,
		[JVMTI_HEAP_REFERENCE_STACK_LOCAL] = TAPE_ROOT_STACK,
		[JVMTI_HEAP_REFERENCE_JNI_LOCAL] = TAPE_ROOT_JNI_LOCAL,
		[JVMTI_HEAP_REFERENCE_THREAD] = TAPE_ROOT_THREAD,
		[JVMTI_HEAP_REFERENCE_OTHER] = TAPE_ROOT_VM,
	};
	struct tape_record record = next_of(r, TAPE_ROOT, report->object);

	expect_size(&record, report);
	ck_assert_int_eq(record.root, kinds[report->kind]);
	if (report->kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
		ck_assert_uint_eq(record.thread, (uint64_t)report->info.stack_local.thread_id);
		ck_assert_uint_eq(record.depth, (uint32_t)report->info.stack_local.depth);
		expect_method(r, record.method, report->info.stack_local.method);
	}
	if (report->kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL)
		ck_assert_uint_eq(record.thread, FAKE_OWN_THREAD);
	if (report->kind == JVMTI_HEAP_REFERENCE_THREAD)
		ck_assert(record.thread == FAKE_APP_THREAD || record.thread == FAKE_OWN_THREAD);
}

/* A class that is not in the roster is told of where it is met first. */
static void expect_new_class(struct reading *r, const struct fake_report *report)
{
	struct tape_record class = next_of(r, TAPE_CLASS, report->object);
	struct tape_record root = next_of(r, TAPE_ROOT, report->object);

	ck_assert_uint_lt(class.class, CLASSES_MAX);
	ck_assert_uint_eq(r->classes[class.class], 0);
	r->classes[class.class] = report->object;
	ck_assert_uint_eq(root.thread, FAKE_OWN_THREAD);
	expect_size(&root, report);
}

static void expect_object(struct reading *r, const struct fake_report *report)
{
	struct tape_record record;

	if (*r->at % 16 == TAPE_CLASS)
		expect_new_class(r, report);
	record = next_of(r, TAPE_OBJECT, report->referrer);
	ck_assert_uint_lt(record.class, CLASSES_MAX);
	ck_assert_uint_eq(r->classes[record.class], report->object);
	ck_assert_str_eq(seen.signatures[record.class], report->of_class);
	r->object = report->referrer;
	r->in_weak = strstr(report->of_class, "Weak") != NULL;
}

static void expect_field(struct reading *r, const struct fake_report *report)
{
	uint32_t index = (uint32_t)report->info.field.index;
	bool is_own = strcmp(report->of_class, "LAppWeak;") == 0;
	bool is_referent = r->in_weak && index == 1u + is_own;
	struct tape_record record = next_of(r, is_referent ? TAPE_REFERENT : TAPE_FIELD,
					    report->object);

	expect_size(&record, report);
	ck_assert_uint_eq(record.index, is_referent ? TAPE_WEAK : index);
}

static uint32_t link_of(jvmtiHeapReferenceKind kind)
{
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_SUPERCLASS:
		return TAPE_SUPERCLASS;
	case JVMTI_HEAP_REFERENCE_INTERFACE:
		return TAPE_INTERFACE;
	case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
		return TAPE_LOADER;
	case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
		return TAPE_DOMAIN;
	case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
		return TAPE_CONSTANT;
	default:
		ck_abort_msg("kind %d", (int)kind);
	}
}

static void expect_other(struct reading *r, const struct fake_report *report)
{
	bool is_element = report->kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT;
	bool is_static = report->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
	struct tape_record record = next_of(r, is_element ? TAPE_ELEMENT
					       : is_static ? TAPE_STATIC : TAPE_LINK,
					    report->object);

	expect_size(&record, report);
	if (is_element || is_static)
		ck_assert_uint_eq(record.index, (uint32_t)report->info.array.index);
	else
		ck_assert_uint_eq(record.index, link_of(report->kind));
}

static void expect_text(struct reading *r)
{
	struct tape_record record = next(r);

	ck_assert_uint_eq(record.address, r->object);
	ck_assert_int_eq(record.form, TAPE_UTF16);
	ck_assert_uint_ge(record.text_len, 2 * 8);
	ck_assert_mem_eq(record.text, "\xe4\xf6\0", 3);
	r->n_texts++;
}

static void expect_reference(struct reading *r, const struct fake_report *report)
{
	if (report->kind == JVMTI_HEAP_REFERENCE_CLASS) {
		expect_object(r, report);
		return;
	}
	if (report->referrer != r->object) {
		(void)next_of(r, TAPE_MIRROR, report->referrer);
		r->object = report->referrer;
	}
	if (report->kind == JVMTI_HEAP_REFERENCE_FIELD)
		expect_field(r, report);
	else
		expect_other(r, report);
}

static struct reading expect_tape(void)
{
	struct reading r = { .at = seen.tape };

	expect_roster(&r);
	for (size_t i = 0; i < fake.n_reports; i++) {
		while (*r.at % 16 == TAPE_TEXT)
			expect_text(&r);
		if (fake.reports[i].referrer == 0)
			expect_root(&r, &fake.reports[i]);
		else
			expect_reference(&r, &fake.reports[i]);
	}
	while (r.at < seen.tape + seen.tape_len)
		expect_text(&r);
	return r;
}

START_TEST(tape_tells_what_was_reported)
{
	static const int releases[] = { 1, 17, 21, 25 };

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		struct reading r;
		struct talk talk;

		jvm_of(releases[i]);
		talk = say(&plain, BYE);
		ck_assert(talk.gone && talk.errors == 0);
		ck_assert_uint_eq(seen.n_ends, 1);
		ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_WHOLE);
		ck_assert_uint_eq(seen.own_thread, FAKE_OWN_THREAD);
		ck_assert_uint_gt(seen.peak, 0);
		ck_assert_uint_gt(fake.n_reports, 250);
		r = expect_tape();
		ck_assert_uint_ge(r.n_own, 1 + 32 + 1);
		ck_assert_uint_eq(r.n_texts, 0);
		/* LLate; turned up. */
		ck_assert_uint_eq(seen.n_classes, seen.n_listed + 1);
		ck_assert_str_eq(seen.signatures[seen.n_listed], "LLate;");
		fake_stop();
	}
}
END_TEST

START_TEST(names_follow_the_walk)
{
	jvm_of(21);
	(void)say(&plain, BYE);
	ck_assert_str_eq(seen.threads, "3 Attach Listener; 7 jtool agent; ");
	ck_assert_uint_eq(seen.n_methods, 3);
	ck_assert_str_eq(seen.methods[0], "Ljava/lang/Thread; <init>");
	ck_assert_str_eq(seen.methods[1], "LApp; run");
	ck_assert_str_eq(seen.methods[2], "LApp; <init>");
	fake_stop();
}
END_TEST

START_TEST(texts_of_long_strings)
{
	struct script script = plain;
	struct reading r;

	script.texts_from = 8;
	jvm_of(21);
	(void)say(&script, BYE);
	r = expect_tape();
	/* "Attach Listener", "jtool agent", "a.module", "/app/a.jar", "strongly" twice */
	ck_assert_uint_ge(r.n_texts, 6);
	fake_stop();
}
END_TEST

/* A class that turned up goes by its number from then on, in this session's later walks, too. */
START_TEST(new_classes_are_the_rosters)
{
	struct script script = plain;
	struct talk talk;

	jvm_of(21);
	(void)say(&plain, BYE);
	fake_stop();
	script.class = seen.n_listed;
	script.graphs = 2;
	jvm_of(21);
	talk = say(&script, BYE);
	ck_assert(talk.gone && talk.errors == 0);
	ck_assert_uint_eq(seen.n_ends, 2);
	ck_assert_uint_eq(seen.n_told_again, 1);
	ck_assert_uint_eq(seen.n_classes, seen.n_listed + 1);
	fake_stop();
}
END_TEST

START_TEST(without_classes_there_is_no_graph)
{
	struct script script = plain;
	struct talk talk;

	script.no_list = true;
	jvm_of(21);
	talk = say(&script, BYE);
	ck_assert(talk.gone);
	ck_assert_uint_eq(talk.errors, 1);
	ck_assert_uint_eq(seen.n_ends, 0);
	fake_stop();
}
END_TEST

START_TEST(other_wrappers_are_found_out)
{
	for (int i = 0; i < 3; i++) {
		struct talk talk;

		jvm_of(21);
		fake.other_wrapper = i == 0;
		fake.other_referrer = i == 1;
		fake.odd_references = i == 2;
		talk = say(&plain, BYE);
		ck_assert(talk.gone && talk.errors == 0);
		ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_UNKNOWN);
		ck_assert_uint_eq(seen.own_thread, 0);
		fake_stop();
	}
}
END_TEST

/* What was told before is what was reported before. */
static void expect_part(uint32_t outcome)
{
	ck_assert_uint_eq(seen.n_ends, 1);
	ck_assert_uint_eq(seen.outcome, outcome);
	(void)expect_tape();
	/* One thread's roots are reported to the last, even so. */
	ck_assert_uint_ge(seen.tape_len, 500);
	ck_assert_uint_lt(fake.n_reports, 250);
	fake_stop();
}

START_TEST(limits_end_the_walk)
{
	struct script script = plain;

	script.pause_ms = 0;
	jvm_of(17);
	(void)say(&script, BYE);
	expect_part(WIRE_GRAPHED_LATE);

	script = plain;
	script.tape_max = 4400;
	jvm_of(17);
	(void)say(&script, BYE);
	ck_assert_uint_le(seen.tape_len, 4400);
	expect_part(WIRE_GRAPHED_FULL);

	script.tape_max = 1000;
	jvm_of(17);
	(void)say(&script, BYE);
	ck_assert_uint_eq(seen.outcome, WIRE_GRAPHED_FULL);
	ck_assert_uint_eq(seen.own_thread, 0);
	ck_assert_uint_eq(seen.tape_len, 0);
	fake_stop();
}
END_TEST

START_TEST(client_may_go_at_any_time)
{
	jvm_of(21);
	(void)say(&plain, HANG_UP);
	fake_stop();
	jvm_of(21);
	(void)say(&plain, HANG_UP_EARLY);
	fake_stop();
}
END_TEST

/* Each call fails once, until a session needs none that has not failed. */
static void fail_every_call(int release, bool leaving)
{
	unsigned n = 0, n_errors = 0;
	struct talk talk;

	do {
		jvm_of(release);
		fake.fail_at = ++n;
		fake.leaving = leaving;
		talk = say(&plain, BYE);
		if (leaving)
			ck_assert_msg(talk.errors == 0, "call %u", n);
		if (talk.gone)
			ck_assert_msg(seen.n_ends + talk.errors >= 1, "call %u", n);
		n_errors += talk.errors > 0;
		fake_stop();
	} while (fake.calls >= n);
	ck_assert_uint_gt(n, 300);
	ck_assert(leaving || n_errors > 200);
}

START_TEST(any_call_may_fail)
{
	fail_every_call(1, false);
	fail_every_call(25, false);
}
END_TEST

START_TEST(the_jvm_may_leave_at_any_call)
{
	fail_every_call(21, true);
}
END_TEST

/* An object of 24 bytes: references at 8, 12 and 20, of which the second is null. */
START_TEST(a_thread_shows_its_fields)
{
	_Alignas(8) uint32_t object[] = { 1, 0, 7, 0, 5, 9 };
	const void *slot = object;
	struct ag_vthreads threads = {
		.class = (jclass)&slot, .own = (jobject)&slot, .offset = 12, .n = 3,
		.probes = { { 8, false }, { 12, true }, { 20, false } },
	};
	uint64_t address = (uint64_t)(uintptr_t)object;

	ck_assert(ag_vthreads_certain(&threads));
	ck_assert(!threads.colored);
	ck_assert(ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address));
	ck_assert(!ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address + 4));
	ck_assert(!ag_vthread_is_bad(&threads, 0, address));
	object[5] = 0;
	ck_assert(!ag_vthreads_certain(&threads));
	object[5] = 9;
	object[3] = 1;
	ck_assert(!ag_vthreads_certain(&threads));
	object[3] = 0;
	threads.probes[2].offset = 0;
	ck_assert(!ag_vthreads_certain(&threads));
	threads.n = 1; /* nothing is null */
	ck_assert(!ag_vthreads_certain(&threads));
	threads.n = 2;
	threads.colored = false;
	ck_assert(ag_vthreads_certain(&threads));
	threads.own = (jobject)((char *)&slot + 1);
	ck_assert(!ag_vthreads_certain(&threads));
	threads.own = (jobject)&slot;
	threads.offset = 0;
	ck_assert(!ag_vthreads_certain(&threads));
	threads.class = NULL; /* there are no virtual threads */
	ck_assert(ag_vthreads_certain(&threads));
}
END_TEST

/* Generational ZGC's: a null that was stored has a colour, one that never was has none. */
START_TEST(references_have_colors)
{
	uint64_t object[] = { 1, 0x7f5d00104010, 0x4010, 0, 0x104010 };
	const void *slot = object;
	struct ag_vthreads threads = {
		.class = (jclass)&slot, .own = (jobject)&slot, .offset = 16, .n = 4,
		.probes = { { 8, false }, { 16, true }, { 24, true }, { 32, false } },
	};
	uint64_t address = (uint64_t)(uintptr_t)object;

	ck_assert(ag_vthreads_certain(&threads));
	ck_assert(threads.colored);
	ck_assert(ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address));
	ck_assert(ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address + 8));
	ck_assert(!ag_vthread_is_bad(&threads, AG_VTHREAD_CLASS, address + 16));
	object[2] = 0x14010;
	ck_assert(!ag_vthreads_certain(&threads));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/graph");
	TCase *c = tcase_create("graph");
	SRunner *r;
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_test(c, tape_tells_what_was_reported);
	tcase_add_test(c, names_follow_the_walk);
	tcase_add_test(c, texts_of_long_strings);
	tcase_add_test(c, new_classes_are_the_rosters);
	tcase_add_test(c, without_classes_there_is_no_graph);
	tcase_add_test(c, other_wrappers_are_found_out);
	tcase_add_test(c, limits_end_the_walk);
	tcase_add_test(c, client_may_go_at_any_time);
	tcase_add_test(c, a_thread_shows_its_fields);
	tcase_add_test(c, references_have_colors);
	tcase_add_test(c, any_call_may_fail);
	tcase_add_test(c, the_jvm_may_leave_at_any_call);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
