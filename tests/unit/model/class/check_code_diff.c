/* Comparison of method bodies and of classes; hints in a class at the tool that instrumented it. */
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "classfile/code_equal.h"
#include "unit/support/data.h"
#include "unit/support/hostile_class.h"
#include "model/class/code_diff.h"
#include "model/class/effective_code.h"
#include "model/class/instrumentation_hints.h"
#include "wire/frame.h"

static struct ag_mem mem = { .budget = SIZE_MAX };
static struct buf file;

static void read_forms(void)
{
	read_data("javap/Forms.class", &file);
}

static void release_file(void)
{
	buf_release(&file);
	ck_assert_uint_eq(mem.blocks, 0);
}

/* Constants #1 = 7, #2 = 8 and #3, a method handle that refers to itself; `down` swaps 7 and 8. */
static const uint8_t up[] = { 3, 0, 0, 0, 7, 3, 0, 0, 0, 8, 15, 6, 0, 3 };
static const uint8_t down[] = { 3, 0, 0, 0, 8, 3, 0, 0, 0, 7, 15, 6, 0, 3 };

static struct cf_pool pool_of(const uint8_t data[static sizeof(up)])
{
	size_t len = sizeof(up);
	struct cf_pool pool;

	ck_assert_ptr_null(cf_pool_open(&pool, data, &len, 4, &mem));
	return pool;
}

static int same(const void *a, size_t n, const void *b, size_t k)
{
	struct cf_pool p = pool_of(up), q = pool_of(down);
	const struct cf_body x = { .pool = &p, .code = a, .len = (uint32_t)n };
	const struct cf_body y = { .pool = &q, .code = b, .len = (uint32_t)k };
	int rc = cf_code_equal(&x, &y, &mem);

	ck_assert_int_eq(cf_code_equal(&y, &x, &mem), rc);
	cf_pool_release(&p);
	cf_pool_release(&q);
	return rc;
}
#define SAME(a, b) same(a, sizeof(a) - 1, b, sizeof(b) - 1)

START_TEST(bodies_are_compared_by_meaning)
{
	/* ldc or ldc_w of 7, ireturn: 7 has another index in the other pool, where #1 is 8. */
	ck_assert_int_eq(SAME("\x12\x01\xac", "\x12\x02\xac"), 1);
	ck_assert_int_eq(SAME("\x12\x01\xac", "\x13\x00\x02\xac"), 1);
	ck_assert_int_eq(SAME("\x12\x01\xac", "\x12\x01\xac"), 0);
	/* A goto skips an ldc or an ldc_w: the offsets differ, the target is the same. */
	ck_assert_int_eq(SAME("\xa7\x00\x05\x12\x01\xb1", "\xa7\x00\x06\x13\x00\x02\xb1"), 1);
	ck_assert_int_eq(SAME("\xa7\x00\x05\x12\x01\xb1", "\xc8\x00\x00\x00\x08\x13\x00\x02\xb1"),
			 1);
	ck_assert_int_eq(SAME("\xa7\x00\x05\x12\x01\xb1", "\xa7\x00\x03\x12\x02\xb1"), 0);
	/* Invalid jumps lead into an operand, before the code or after it. */
	ck_assert_int_eq(SAME("\xa7\x00\x01\xb1", "\xa7\x00\x01\xb1"), 0);
	ck_assert_int_eq(SAME("\xa7\xff\xff\xb1", "\xa7\xff\xff\xb1"), 0);
	ck_assert_int_eq(SAME("\xa7\x00\x04\xb1", "\xa7\x00\x04\xb1"), 0);
	/*
	 * Equal: the same local, also with wide.  Different: another local, value or instruction,
	 * one instruction more, no instruction, an unknown instruction.
	 */
	ck_assert_int_eq(SAME("\x15\x05\xac", "\x15\x05\xac"), 1);
	ck_assert_int_eq(SAME("\x15\x05\xac", "\xc4\x15\x00\x05\xac"), 1);
	ck_assert_int_eq(SAME("\x15\x05\xac", "\x15\x06\xac"), 0);
	ck_assert_int_eq(SAME("\x10\x05\xac", "\x10\x06\xac"), 0);
	ck_assert_int_eq(SAME("\x04\xac", "\x05\xac"), 0);
	ck_assert_int_eq(SAME("\x04\xac", "\x04\x00\xac"), 0);
	ck_assert_int_eq(SAME("\xb1", ""), 0);
	ck_assert_int_eq(SAME("\xfd", "\xfd"), 0);
	/* One constant does not exist, one refers to itself. */
	ck_assert_int_eq(SAME("\x12\x09\xac", "\x12\x09\xac"), 0);
	ck_assert_int_eq(SAME("\x12\x03\xac", "\x12\x03\xac"), 0);
}
END_TEST

START_TEST(switches_are_compared_by_targets)
{
	static const char table[] = "\xaa\0\0\0\0\0\0\x14\0\0\0\1\0\0\0\2\0\0\0\x14\0\0\0\x15"
				    "\xb1\x04\xac";
	char other[sizeof(table)];

	memcpy(other, table, sizeof(table));
	ck_assert_int_eq(SAME(table, "\xb1"), 0);
	ck_assert_int_eq(same(table, sizeof(table) - 1, other, sizeof(table) - 1), 0);
	memcpy(other + 4, "\0\0\0\x18", 4);
	memcpy(other + 16, "\0\0\0\x18\0\0\0\x19", 8);
	ck_assert_int_eq(same(other, sizeof(table) - 1, other, sizeof(table) - 1), 1);
}
END_TEST

START_TEST(comparison_fails_without_memory)
{
	struct cf_pool p = pool_of(up);
	static const uint8_t code[] = { 0x12, 0x01, 0xac };
	const struct cf_body body = { .pool = &p, .code = code, .len = sizeof(code) };

	mem.budget = mem.bytes + 20;
	ck_assert_int_eq(cf_code_equal(&body, &body, &mem), -1);
	mem.budget = SIZE_MAX;
	cf_pool_release(&p);
}
END_TEST

START_TEST(only_complete_bootstrap_methods_are_indexed)
{
	const struct hostile_class h = { 1, 3, 2 };
	struct cf_bootstraps b;
	struct cf_class c;

	buf_reset(&file);
	hostile_class_write(&file, &h);
	file.data[file.len - 5]++; /* the last method has fewer arguments than it announces */
	ck_assert_ptr_null(cf_open(&c, file.data, file.len, &mem));
	ck_assert_int_eq(cf_bootstraps_open(&b, &c, &mem), 0);
	ck_assert_uint_eq(b.n, 2);
	cf_bootstraps_release(&b);
	mem.budget = mem.bytes;
	ck_assert_int_eq(cf_bootstraps_open(&b, &c, &mem), -1);
	ck_assert_ptr_null(b.data);
	mem.budget = SIZE_MAX;
	cf_release(&c);
}
END_TEST

static void replace(struct buf *b, const char *old, const char *new)
{
	char *at = memmem(b->data, b->len, old, strlen(old));

	ck_assert_uint_eq(strlen(old), strlen(new));
	ck_assert_ptr_nonnull(at);
	memcpy(at, new, strlen(new));
}

/* Returns the differences between the captured class and the file, one per line. */
static const char *compared(const struct class_capture *running)
{
	static struct buf text;
	struct code_diff diff = { 0 };
	struct cf_class c;

	buf_reset(&text);
	ck_assert_ptr_null(cf_open(&c, file.data, file.len, &mem));
	ck_assert_ptr_null(code_diff_compare(&diff, running, &c));
	for (size_t i = 0; i < diff.n; i++)
		buf_addf(&text, "%s: %s\n", code_diff_word(diff.rows[i].kind), diff.rows[i].method);
	buf_addf(&text, "%zu same", diff.n_same);
	code_diff_release(&diff);
	cf_release(&c);
	return buf_str(&text);
}

static void add_method(struct class_capture *c, const char *name, const char *descriptor,
		       const char *code)
{
	c->methods = xgrow(c->methods, c->n_methods, &c->cap_methods, sizeof(*c->methods));
	c->methods[c->n_methods] = (struct captured_method){ .name = xstrdup(name),
							     .descriptor = xstrdup(descriptor) };
	buf_adds(&c->methods[c->n_methods++].code, code);
}

/* One method is changed and one renamed.  Methods without code count as the same. */
START_TEST(differences_between_class_files_are_listed)
{
	struct class_capture c = { .outcome = 0 };

	buf_add(&c.file, file.data, file.len);
	ck_assert_str_eq(compared(&c), "10 same");
	replace(&c.file, "\x26\x24\x8d\x63\xaf", "\x26\x24\x8d\x6b\xaf"); /* dmul in sum() */
	replace(&c.file, "guarded", "renamed");
	ck_assert_str_eq(compared(&c),
			 "code differs: double sum(double, float)\n"
			 "only in the file: int guarded(java.util.concurrent.Callable)\n"
			 "only in memory: int renamed(java.util.concurrent.Callable)\n"
			 "8 same");
	class_capture_release(&c);
}
END_TEST

START_TEST(code_in_memory_is_compared_with_the_file)
{
	struct class_capture c = { .memory = true, .pool_count = 1 };

	buf_add(&c.file, file.data, file.len);
	add_method(&c, "sum", "(DF)D", "\x26\xaf");
	ck_assert_str_eq(compared(&c), "code differs: double sum(double, float)\n9 same");
	add_method(&c, "added", "()V", "\xb1");
	ck_assert_str_eq(compared(&c), "code differs: double sum(double, float)\n"
				       "only in memory: void added()\n9 same");
	/* The capture has no class file, only the code of two methods. */
	buf_reset(&c.file);
	ck_assert_ptr_nonnull(strstr(compared(&c), "only in memory: void added()\n0 same"));
	ck_assert_ptr_null(strstr(compared(&c), "fails"));
	ck_assert_ptr_nonnull(strstr(compared(&c), "only in the file: <init>(int[])\n"));
	class_capture_release(&c);
}
END_TEST

START_TEST(unreadable_classes_are_errors)
{
	struct class_capture c = { .memory = true, .pool_count = 2 };
	struct code_diff diff = { 0 };
	struct cf_class class;

	ck_assert_ptr_null(cf_open(&class, file.data, file.len, &mem));
	add_method(&c, "sum", "(DF)D", "\x26\xaf");
	ck_assert_str_eq(code_diff_compare(&diff, &c, &class), "the constant pool ends too early");
	buf_adds(&c.file, "no class");
	ck_assert_str_eq(code_diff_compare(&diff, &c, &class), "it does not begin with 0xCAFEBABE");
	ck_assert_uint_eq(diff.n, 0);
	cf_release(&class);
	class_capture_release(&c);
}
END_TEST

/* Returns the differences between a class and its own file. */
static const char *compared_with_itself(const struct hostile_class *h)
{
	struct class_capture c = { .outcome = 0 };
	const char *text;

	buf_reset(&file);
	hostile_class_write(&file, h);
	buf_add(&c.file, file.data, file.len);
	text = compared(&c);
	class_capture_release(&c);
	return text;
}

/* A walk over the table for each argument is 2^36 entries. */
START_TEST(long_tables_of_bootstrap_methods_are_compared)
{
	const struct hostile_class h = { 8, UINT16_MAX, UINT16_MAX };

	ck_assert_str_eq(compared_with_itself(&h), "8 same");
}
END_TEST

/* The limit, 2^20, is 16 times the arguments of the bootstrap method. */
START_TEST(bootstrap_arguments_are_limited_for_all_methods_together)
{
	const struct hostile_class h = { 20, UINT16_MAX, UINT16_MAX };
	const char *text = compared_with_itself(&h);

	ck_assert_msg(strstr(text, "\n16 same"), "%s", text);
}
END_TEST

/* A walk over all methods for each method is 2^32 methods; over the table, 2^32 entries. */
START_TEST(classes_with_the_most_methods_are_compared)
{
	const struct hostile_class h = { UINT16_MAX, UINT16_MAX, 1 };
	static const char code[] = "\x2a\xb1"; /* aload_0, return */
	struct class_capture c = { .memory = true, .pool_count = 1 };
	char name[8], descriptor[8];

	ck_assert_str_eq(compared_with_itself(&h), "65535 same");
	for (unsigned i = 0; i < h.n_methods; i++) {
		(void)snprintf(name, sizeof(name), "m%04x", i / HOSTILE_TEXTS);
		(void)snprintf(descriptor, sizeof(descriptor), "()L%02x", i % HOSTILE_TEXTS);
		add_method(&c, name, descriptor, code);
	}
	ck_assert_ptr_nonnull(strstr(compared(&c), "\n0 same"));
	buf_add(&c.file, file.data, file.len);
	c.outcome = WIRE_CAPTURED_FILE;
	ck_assert_ptr_nonnull(strstr(compared(&c), "\n0 same"));
	ck_assert_uint_eq(class_capture_differences(&c, NULL), h.n_methods);
	class_capture_release(&c);
}
END_TEST

/* The first of two equal methods counts, in the class file and in memory. */
START_TEST(repeated_methods_are_found_at_their_first_place)
{
	const struct cf_text name = { "m0000", 5 }, descriptor = { "()L00", 5 };
	const struct hostile_class h = { 300, 2, 0 };
	struct class_capture c = { .memory = true, .pool_count = 1 };
	struct effective_method m;
	struct effective_code r;

	for (int i = 0; i < 300; i++)
		add_method(&c, "m0000", "()L00", i == 0 ? "\xb1" : "\x04\xac");
	ck_assert_ptr_null(effective_code_open(&r, NULL, &c));
	ck_assert(effective_code_find(&r, name, descriptor, &m));
	ck_assert_uint_eq(m.body.len, 1);
	ck_assert(!effective_code_find(&r, name, name, &m));
	effective_code_release(&r);
	class_capture_release(&c);
	ck_assert_str_eq(compared_with_itself(&h), "300 same");
}
END_TEST

static const char *hints(void)
{
	const char *words[INSTRUMENTATION_HINT_MAX];
	static struct buf text;
	struct cf_class c;
	size_t n;

	buf_reset(&text);
	ck_assert_ptr_null(cf_open(&c, file.data, file.len, &mem));
	n = instrumentation_hint(&c, &c.pool, words);
	for (size_t i = 0; i < n; i++)
		buf_addf(&text, "%s%s", i ? ", " : "", words[i]);
	cf_release(&c);
	return buf_str(&text);
}

START_TEST(tools_are_recognised_by_names_in_the_class)
{
	ck_assert_str_eq(hints(), "");
	replace(&file, "java/util/concurrent/Callable", "java/arthas/SpyAPI.atEnter...");
	ck_assert_str_eq(hints(), "Arthas: watch, trace or the like");
	replace(&file, "SINGLES", "ajc$tjp");
	replace(&file, "guarded", "$jacoco");
	ck_assert_str_eq(hints(), "Arthas: watch, trace or the like, JaCoCo: counts which code "
				  "runs, AspectJ: woven, or an aspect");
}
END_TEST

static void add_name(const char *name)
{
	const uint8_t utf8[] = { CF_UTF8, 0, (uint8_t)strlen(name) };

	buf_add(&file, utf8, sizeof(utf8));
	buf_adds(&file, name);
}

/* Returns the hints in a class that has only a name and a superclass. */
static const char *hints_of(const char *name, const char *super)
{
	static const uint8_t head[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 5 };
	static const uint8_t tail[] = { CF_CLASS, 0, 1, CF_CLASS, 0, 2, 0, 0x21, 0, 3, 0,
					4,        0, 0, 0,        0, 0, 0, 0,    0 };

	buf_reset(&file);
	buf_add(&file, head, sizeof(head));
	add_name(name);
	add_name(super);
	buf_add(&file, tail, sizeof(tail));
	return hints();
}

START_TEST(tools_are_recognised_by_class_and_superclass_names)
{
	ck_assert_str_eq(hints_of("p/C", "java/lang/Object"), "");
	ck_assert_str_eq(hints_of("p/C", "datadog/trace/bootstrap/A"), "Datadog's agent");
	ck_assert_str_eq(hints_of("datadog/C", "datadog/trace/bootstrap/A"), ""); /* tool's own */
	ck_assert_str_eq(hints_of("one/profiler/Instrument", "one/profiler/Instrument"), "");
	ck_assert_str_eq(hints_of("p/C$$SpringCGLIB$$0", "p/C"), "Spring: a generated subclass");
	ck_assert_str_eq(hints_of("p/$Proxy1", "java/lang/reflect/Proxy"),
			 "java.lang.reflect: a generated proxy");
	ck_assert_str_eq(hints_of("p/C$ByteBuddy$1", "one/profiler/InstrumentX"),
			 "async-profiler: measures calls, Byte Buddy: generated");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/class/code_diff");
	TCase *tc = tcase_create("model/class/code_diff");
	TCase *hostile = tcase_create("hostile class files");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, read_forms, release_file);
	tcase_add_test(tc, bodies_are_compared_by_meaning);
	tcase_add_test(tc, switches_are_compared_by_targets);
	tcase_add_test(tc, comparison_fails_without_memory);
	tcase_add_test(tc, only_complete_bootstrap_methods_are_indexed);
	tcase_add_test(tc, differences_between_class_files_are_listed);
	tcase_add_test(tc, code_in_memory_is_compared_with_the_file);
	tcase_add_test(tc, unreadable_classes_are_errors);
	tcase_add_test(tc, tools_are_recognised_by_names_in_the_class);
	tcase_add_test(tc, tools_are_recognised_by_class_and_superclass_names);
	tcase_add_checked_fixture(hostile, NULL, release_file);
	tcase_set_timeout(hostile, 20);
	tcase_add_test(hostile, long_tables_of_bootstrap_methods_are_compared);
	tcase_add_test(hostile, bootstrap_arguments_are_limited_for_all_methods_together);
	tcase_add_test(hostile, classes_with_the_most_methods_are_compared);
	tcase_add_test(hostile, repeated_methods_are_found_at_their_first_place);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, hostile);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
