/*
 * CLASSES and CLASS in a fake JVM: the rows that are sent, class numbers that remain valid, and
 * that nothing is left in the JVM when any call fails.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fake/converse.h"
#include "agent/fake/peer.h"

#define ROWS_MAX 64
#define SOURCES WIRE_CLASSES_SOURCES

struct row {
	uint32_t loader, module, source, modifiers, traits;
	char signature[64];
};

struct seen {
	struct row rows[ROWS_MAX];
	uint32_t n_rows, n_loaders, n_modules, n_sources, n_lists;
	char module[64], source[64];
	/* the answer to the last CLASS request */
	char supers[200], members[300], file[64];
	uint32_t n_classes, major, constants;
};

static void append(char *text, size_t size, const char *more)
{
	ck_assert_uint_lt(strlen(text) + strlen(more) + 1, size);
	strncat(text, more, size - strlen(text) - 1);
	strncat(text, " ", size - strlen(text) - 1);
}

static void take_rows(struct seen *seen, struct wire_reader *r)
{
	for (uint32_t n = wire_get_u32(r); n > 0; n--) {
		struct row *row = &seen->rows[seen->n_rows++];

		ck_assert_uint_lt(seen->n_rows, ROWS_MAX);
		row->loader = wire_get_u32(r);
		row->module = wire_get_u32(r);
		row->source = wire_get_u32(r);
		row->modifiers = wire_get_u32(r);
		row->traits = wire_get_u32(r);
		copy_text(row->signature, sizeof(row->signature), wire_get_text(r));
		ck_assert_uint_le(row->loader, seen->n_loaders);
		ck_assert_uint_le(row->module, seen->n_modules);
		ck_assert_uint_le(row->source, seen->n_sources);
	}
}

static void take_super(struct seen *seen, struct wire_reader *r)
{
	char signature[64];

	append(seen->supers, sizeof(seen->supers), wire_get_u32(r) ? "i" : "s");
	ck_assert_uint_le(wire_get_u32(r), seen->n_loaders);
	copy_text(signature, sizeof(signature), wire_get_text(r));
	append(seen->supers, sizeof(seen->supers), signature);
}

static void take_member(struct seen *seen, struct wire_reader *r)
{
	(void)wire_get_u32(r);
	for (int i = 0; i < 3; i++) {
		char text[64];

		copy_text(text, sizeof(text), wire_get_text(r));
		append(seen->members, sizeof(seen->members), text);
	}
}

/* Resets all numbers if a second list begins. */
static void begin_again(struct seen *seen)
{
	if (seen->n_lists == 0)
		return;
	seen->n_rows = seen->n_loaders = seen->n_modules = seen->n_sources = 0;
	seen->n_lists = 0;
}

static void take(void *arg, uint16_t type, struct wire_reader *r)
{
	struct seen *seen = arg;

	switch (type) {
	case WIRE_LOADER:
		begin_again(seen);
		ck_assert_uint_eq(wire_get_u32(r), ++seen->n_loaders);
		(void)wire_get_text(r);
		(void)wire_get_text(r);
		(void)wire_get_u32(r);
		break;
	case WIRE_MODULE:
		begin_again(seen);
		ck_assert_uint_eq(wire_get_u32(r), ++seen->n_modules);
		copy_text(seen->module, sizeof(seen->module), wire_get_text(r));
		break;
	case WIRE_SOURCE:
		begin_again(seen);
		ck_assert_uint_eq(wire_get_u32(r), ++seen->n_sources);
		copy_text(seen->source, sizeof(seen->source), wire_get_text(r));
		break;
	case WIRE_CLASS_ROWS:
		take_rows(seen, r);
		break;
	case WIRE_CLASSES_END:
		ck_assert_uint_eq(wire_get_u32(r), seen->n_rows);
		seen->n_lists++;
		break;
	case WIRE_CLASS_SUPER:
		take_super(seen, r);
		break;
	case WIRE_CLASS_FIELD:
	case WIRE_CLASS_METHOD:
		take_member(seen, r);
		break;
	case WIRE_CLASS_END:
		seen->major = wire_get_u32(r);
		(void)wire_get_u32(r);
		seen->constants = wire_get_u32(r);
		copy_text(seen->file, sizeof(seen->file), wire_get_text(r));
		seen->n_classes++;
		break;
	default:
		ck_abort_msg("frame %u", type);
	}
}

/* n requests: CLASS with a number, or CLASSES with `flags` if the number is UINT32_MAX. */
struct script {
	uint32_t n, flags, numbers[ROWS_MAX];
};

static void ask(int fd, const void *arg)
{
	const struct script *script = arg;

	for (uint32_t i = 0; i < script->n; i++) {
		bool list = script->numbers[i] == UINT32_MAX;
		uint8_t data[4];
		struct wire_writer w = wire_writer_init(data, sizeof(data));

		wire_put_u32(&w, list ? script->flags : script->numbers[i]);
		peer_send(fd, list ? WIRE_CLASSES : WIRE_CLASS, &w);
	}
}

static struct talk say(const struct script *script, struct seen *seen, enum end end)
{
	struct talk talk = {
		.ask = ask, .arg = script, .take = take, .seen = seen, .end = end
	};

	*seen = (struct seen){ 0 };
	converse(&talk);
	return talk;
}

static void jvm_of(int release)
{
	heap_world_init(release, FAKE_NARROW);
}

static uint32_t number_of(const struct seen *seen, const char *signature)
{
	for (uint32_t i = 0; i < seen->n_rows; i++) {
		if (strcmp(seen->rows[i].signature, signature) == 0)
			return i;
	}
	ck_abort_msg("no %s", signature);
	return 0;
}

static const struct row *find(const struct seen *seen, const char *signature)
{
	return &seen->rows[number_of(seen, signature)];
}

static struct seen list(int release, uint32_t flags)
{
	const struct script script = { 1, flags, { UINT32_MAX } };
	struct seen seen;
	struct talk talk;

	jvm_of(release);
	talk = say(&script, &seen, BYE);
	ck_assert(talk.hello && talk.gone && talk.errors == 0);
	ck_assert_uint_eq(seen.n_lists, 1);
	heap_world_stop();
	return seen;
}

static const struct {
	const char *signature;
	uint32_t traits;
} traits[] = {
	{ "Ljava/lang/Object;", WIRE_CLASS_LINKED },
	{ "[I", WIRE_CLASS_ARRAY },
	{ "LShape;", WIRE_CLASS_LINKED | WIRE_CLASS_INTERFACE },
	{ "LColor;", WIRE_CLASS_LINKED | WIRE_CLASS_ENUM },
	{ "LColor$1;", WIRE_CLASS_LINKED },
	{ "LPoint;", WIRE_CLASS_LINKED | WIRE_CLASS_RECORD },
	{ "LUnlinked;", 0 },
	{ "LApp$$Lambda$1/1234;", WIRE_CLASS_LINKED },
};

START_TEST(traits_are_sent)
{
	struct seen seen = list(21, 0);

	for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
		ck_assert_uint_eq(find(&seen, traits[i].signature)->traits, traits[i].traits);
	ck_assert_uint_eq(find(&seen, "LColor;")->modifiers, 0x4401);
	ck_assert_uint_eq(seen.n_sources, 0);
}
END_TEST

/* A native method returns the protection domain up to JDK 24; a field has it from JDK 25 on. */
START_TEST(sources_are_sent)
{
	static const int releases[] = { 1, 17, 21, 25 };

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		struct seen seen = list(releases[i], SOURCES);
		const struct row *app = find(&seen, "LApp;");

		ck_assert_str_eq(seen.source, "file://host/app/a.jar?q");
		ck_assert_uint_ne(app->source, 0);
		ck_assert_uint_eq(app->source, find(&seen, "LShape;")->source);
		ck_assert_uint_eq(seen.n_loaders, 2);
		/* JDK 8 has no modules; later, modules of the boot loader are sources, too. */
		ck_assert_uint_eq(seen.n_modules, releases[i] == 1 ? 0 : 2);
		ck_assert_uint_eq(seen.n_sources, releases[i] == 1 ? 1 : 2);
		ck_assert((find(&seen, "Ljava/lang/Object;")->source != 0) == (releases[i] > 1));
	}
}
END_TEST

static struct seen look_at(int release, const char *signature)
{
	struct seen seen = list(release, 0);
	const struct script script = { 2, 0, { UINT32_MAX, number_of(&seen, signature) } };
	struct talk talk;

	jvm_of(release);
	talk = say(&script, &seen, BYE);
	ck_assert(talk.gone && talk.errors == 0);
	ck_assert_uint_eq(seen.n_classes, 1);
	heap_world_stop();
	return seen;
}

START_TEST(a_class_is_described)
{
	struct seen seen = look_at(21, "LApp;");

	ck_assert_str_eq(seen.supers, "s Ljava/lang/Object; i LShape; ");
	ck_assert_str_eq(seen.members, "list Ljava/util/List; Ljava/util/List<LApp;>; "
				       "<init> ()V  run (I)V  ");
	ck_assert_str_eq(seen.file, "App.java");
	ck_assert_uint_eq(seen.major, 52);
	ck_assert_uint_eq(seen.constants, 2);
	seen = look_at(21, "LColor$1;");
	ck_assert_str_eq(seen.supers, "s LColor; s Ljava/lang/Enum; s Ljava/lang/Object; ");
}
END_TEST

/* An absent part of a class is not an error. */
START_TEST(unlinked_class_is_described_in_part)
{
	struct seen seen = look_at(21, "LUnlinked;");

	ck_assert_str_eq(seen.supers, "s Ljava/lang/Object; ");
	ck_assert_str_eq(seen.members, "");
	ck_assert_uint_eq(seen.major, 52);
	seen = look_at(21, "[I");
	ck_assert_uint_eq(seen.major, 0);
	ck_assert_uint_eq(seen.constants, 0);
	ck_assert_str_eq(seen.file, "");
	/* The fake JVM fails the test if this class's constants are read: JDK 8 would crash. */
	seen = look_at(1, "LApp$$Lambda$1/1234;");
	ck_assert_uint_eq(seen.major, 52);
	ck_assert_uint_eq(seen.constants, 0);
}
END_TEST

static jvmtiError JNICALL fail_modifiers(jvmtiEnv *ti, jmethodID method, jint *modifiers)
{
	(void)ti, (void)method, (void)modifiers;
	return JVMTI_ERROR_INVALID_METHODID;
}

/* heap_world_start(), which is called later, would replace the function. */
static void replace_modifiers(const struct fake_object *class)
{
	(void)class;
	fake_ti_table.GetMethodModifiers = fail_modifiers;
}

/* Another thread redefines the class between the calls for a method's name and its modifiers. */
START_TEST(deleted_method_is_skipped)
{
	struct seen seen = list(1, 0);
	const struct script script = { 2, 0, { UINT32_MAX, number_of(&seen, "LApp;") } };
	struct talk talk;

	jvm_of(1);
	fake.on_class = replace_modifiers;
	talk = say(&script, &seen, BYE);
	ck_assert(talk.gone);
	ck_assert_uint_eq(talk.errors, 0);
	ck_assert_uint_eq(seen.n_classes, 1);
	ck_assert_str_eq(seen.members, "list Ljava/util/List; Ljava/util/List<LApp;>; ");
	heap_world_stop();
}
END_TEST

START_TEST(numbers_refer_to_the_last_list)
{
	const struct script unknown = { 3, 0, { 0, UINT32_MAX, ROWS_MAX } };
	const struct script twice = { 4, SOURCES, { UINT32_MAX, 0, UINT32_MAX, 1 } };
	struct seen seen;
	struct talk talk;

	jvm_of(21);
	talk = say(&unknown, &seen, BYE);
	ck_assert(talk.gone);
	ck_assert_uint_eq(talk.errors, 2); /* before the first list; beyond its end */
	ck_assert_uint_eq(seen.n_classes, 0);
	heap_world_stop();

	jvm_of(21);
	talk = say(&twice, &seen, BYE);
	ck_assert(talk.gone && talk.errors == 0);
	ck_assert_uint_eq(seen.n_classes, 2);
	heap_world_stop();
}
END_TEST

START_TEST(client_may_disconnect_at_any_time)
{
	const struct script script = { 2, SOURCES, { UINT32_MAX, 5 } };
	struct seen seen;

	jvm_of(21);
	(void)say(&script, &seen, HANG_UP);
	heap_world_stop();
	jvm_of(21);
	(void)say(&script, &seen, HANG_UP_EARLY);
	heap_world_stop();
}
END_TEST

/* Runs one session for each call that may fail; in this session, the call fails. */
static void fail_every_call(int release, bool leaving)
{
	struct seen seen = list(release, SOURCES);
	const struct script script = {
		4, SOURCES, { UINT32_MAX, number_of(&seen, "LApp;"), number_of(&seen, "[I"),
			      number_of(&seen, "LApp$$Lambda$1/1234;") }
	};
	unsigned n = 0, n_errors = 0;
	struct talk talk;

	do {
		jvm_of(release);
		fake.fail_at = ++n;
		fake.leaving = leaving;
		talk = say(&script, &seen, BYE);
		if (leaving)
			ck_assert_msg(talk.errors == 0, "call %u", n);
		/* Without a list, no class has a number: all four requests fail. */
		if (talk.gone && seen.n_lists == 0)
			ck_assert_msg(talk.errors == 4, "call %u", n);
		else if (talk.gone)
			ck_assert_msg(seen.n_classes + talk.errors == 3, "call %u", n);
		n_errors += talk.errors > 0;
		heap_world_stop();
	} while (fake.calls >= n);
	ck_assert_uint_gt(n, 200);
	ck_assert(leaving || n_errors > 150);
}

START_TEST(each_call_may_fail)
{
	fail_every_call(1, false);
	fail_every_call(21, false);
	fail_every_call(25, false);
}
END_TEST

START_TEST(the_jvm_may_exit_at_each_call)
{
	fail_every_call(21, true);
	fail_every_call(25, true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/cmd/classes");
	TCase *c = tcase_create("classes");
	SRunner *r;
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_test(c, traits_are_sent);
	tcase_add_test(c, sources_are_sent);
	tcase_add_test(c, a_class_is_described);
	tcase_add_test(c, unlinked_class_is_described_in_part);
	tcase_add_test(c, deleted_method_is_skipped);
	tcase_add_test(c, numbers_refer_to_the_last_list);
	tcase_add_test(c, client_may_disconnect_at_any_time);
	tcase_add_test(c, each_call_may_fail);
	tcase_add_test(c, the_jvm_may_exit_at_each_call);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
