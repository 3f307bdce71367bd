/* Constant pools and code, compared with the output of javap for the same classes. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "classfile/code.h"
#include "unit/support/data.h"
#include "render/java_double.h"
#include "render/class/javap_code.h"
#include "render/class/javap_insn.h"
#include "render/class/javap_pool.h"

static struct ag_mem mem = { .budget = SIZE_MAX };
static struct buf file, shown;

static void read_forms(void)
{
	read_data("javap/Forms.class", &file);
}

static void release(void)
{
	buf_release(&file);
	buf_release(&shown);
	ck_assert_uint_eq(mem.blocks, 0);
}

static struct cf_class open_class(void)
{
	struct cf_class c;

	ck_assert_ptr_null(cf_open(&c, file.data, file.len, &mem));
	return c;
}

static FILE *begin(void)
{
	FILE *out;

	buf_release(&shown);
	out = open_memstream(&shown.data, &shown.len);
	ck_assert_ptr_nonnull(out);
	return out;
}

static void show_code(const struct cf_class *c, const struct class_capture *memory)
{
	FILE *out = begin();

	ck_assert_ptr_null(javap_code(out, c, memory));
	ck_assert_int_eq(fclose(out), 0);
}

static void show_pool(const struct cf_class *c)
{
	FILE *out = begin();

	javap_pool(out, &c->pool);
	ck_assert_int_eq(fclose(out), 0);
}

static void show_json(struct json *json)
{
	FILE *out = begin();

	json_print_take(json, out);
	ck_assert_int_eq(fclose(out), 0);
}

/* Compares the output with a file; a failure prints both from the first different line on. */
static void assert_same_as_file(const char *name)
{
	_cleanup_buf_ struct buf expected = BUF_INIT;
	size_t i = 0, line = 0;

	read_data(name, &expected);
	while (i < expected.len && i < shown.len && expected.data[i] == shown.data[i]) {
		if (expected.data[i++] == '\n')
			line = i;
	}
	ck_assert_msg(i == expected.len && i == shown.len, "%s: wanted:\n%.200s\ngot:\n%.200s",
		      name, buf_str(&expected) + line, shown.data + line);
}

/* Matches javap of JDK 21, but exceptions in signatures have dots, as in JDK 22 and later. */
START_TEST(code_and_pool_match_javap)
{
	struct cf_class c = open_class();

	show_code(&c, NULL);
	assert_same_as_file("javap/Forms.code");
	show_pool(&c);
	assert_same_as_file("javap/Forms.pool");
	cf_release(&c);

	buf_reset(&file);
	read_data("javap/Shape.class", &file);
	c = open_class();
	show_code(&c, NULL);
	assert_same_as_file("javap/Shape.code");
	cf_release(&c);
}
END_TEST

/* Overwrites a text in the class file with another of the same length. */
static void replace(const char *old, const char *new)
{
	char *at = memmem(file.data, file.len, old, strlen(old));

	ck_assert_uint_eq(strlen(old), strlen(new));
	ck_assert_ptr_nonnull(at);
	memcpy(at, new, strlen(new));
}

START_TEST(hostile_names_are_escaped)
{
	struct cf_class c;

	replace("number ", "\x1b[2J\r\xe2 "); /* a string constant */
	replace("guarded", "\x1b]0;\n\xff\"");
	replace("REALS", "R\xe2\x80\xae!");
	c = open_class();
	show_code(&c, NULL);
	ck_assert_ptr_null(memchr(shown.data, '\x1b', shown.len));
	ck_assert_ptr_null(memchr(shown.data, '\r', shown.len));
	ck_assert_ptr_nonnull(strstr(shown.data, "int \\x1B]0;\\x0A\\xFF\"(java.util"));
	ck_assert_ptr_nonnull(strstr(shown.data, "double[] R\\xE2\\x80\\xAE!;"));
	show_pool(&c);
	ck_assert_ptr_null(memchr(shown.data, '\x1b', shown.len));
	ck_assert_ptr_nonnull(strstr(shown.data, "\\u001b[2J\\r"));
	cf_release(&c);
}
END_TEST

/* Sets each byte in turn to `value`; every class that still opens must be printable. */
static void damage(uint8_t value)
{
	struct cf_class c;

	for (size_t i = 8; i < file.len; i++) {
		char was = file.data[i];

		file.data[i] = (char)value;
		if (!cf_open(&c, file.data, file.len, &mem)) {
			show_code(&c, NULL);
			show_pool(&c);
			cf_release(&c);
		}
		file.data[i] = was;
	}
}

START_TEST(damaged_class_files_do_not_crash)
{
	damage(0xff);
	buf_reset(&file);
	read_data("javap/Shape.class", &file);
	damage(0);
	damage(1);
	damage(0x7f);
}
END_TEST

/* Returns a capture with one method, and with the constant pool of `c`. */
static struct class_capture in_memory(const struct cf_class *c, const char *name,
				      const char *descriptor, const void *code, size_t len)
{
	struct class_capture m = { .memory = true, .pool_count = c->pool.count };

	buf_add(&m.pool, c->pool.data, c->len - (size_t)(c->pool.data - c->data));
	m.methods = xgrow(m.methods, 0, &m.cap_methods, sizeof(*m.methods));
	m.methods[0] = (struct captured_method){ .name = xstrdup(name),
						 .descriptor = xstrdup(descriptor) };
	buf_add(&m.methods[0].code, code, len);
	m.n_methods = 1;
	return m;
}

START_TEST(methods_in_memory_are_shown_and_marked)
{
	static const uint8_t code[] = { 0x14, 0, 37, 0xac }; /* ldc2_w, ireturn */
	static const char sum[] = "(DF)D";
	struct cf_class c = open_class();
	const char *why;
	struct class_capture m = in_memory(&c, "sum", sum, code, sizeof(code));

	show_code(&c, &m);
	ck_assert_ptr_nonnull(
		strstr(shown.data,
		       "static double sum(double, float);\n"
		       "    Code: // in memory, differs from the class file; JVMTI reports no "
		       "exception "
		       "table\n"
		       "       0: ldc2_w        #37                 // long 5000000000l\n"
		       "       3: ireturn\n\n"));
	show_json(javap_code_json(&c, &m, &why));
	ck_assert_ptr_null(why);
	ck_assert_ptr_nonnull(
		strstr(shown.data, "\"name\":\"sum\",\"descriptor\":\"(DF)D\",\"memory\":true,"
				   "\"code\":[{\"pc\":0,\"text\":\"ldc2_w #37 // long "
				   "5000000000l\"},{\"pc\":3,\"text\":\"ireturn\"}],"
				   "\"exceptions\":null}"));
	class_capture_release(&m);

	m = in_memory(&c, "sum", sum, "\x26\x24\x8d\x63\xaf", 5); /* identical to the class file */
	show_code(&c, &m);
	assert_same_as_file("javap/Forms.code");
	class_capture_release(&m);

	m = in_memory(&c, "added", "(J)V", "\xb1", 1);
	show_code(&c, &m);
	ck_assert_ptr_nonnull(
		strstr(shown.data, "\n\n  void added(long);\n    Code: // in memory, "));
	show_code(NULL, &m);
	ck_assert_str_eq(shown.data, "  void added(long);\n"
				     "    Code: // in memory; JVMTI reports no exception table\n"
				     "       0: return\n");
	m.pool.len = 5;
	show_json(javap_code_json(NULL, &m, &why));
	ck_assert_str_eq(shown.data, "[]\n");
	ck_assert_ptr_nonnull(why);
	class_capture_release(&m);
	cf_release(&c);
}
END_TEST

START_TEST(json_has_instructions_exceptions_and_constants)
{
	struct cf_class c = open_class();
	const char *why;

	show_json(javap_code_json(&c, NULL, &why));
	ck_assert_ptr_null(why);
	ck_assert_ptr_nonnull(strstr(
		shown.data,
		"{\"pc\":8,\"text\":\"lookupswitch { 97: 36, 98: 50, default: 61 }\"}"));
	ck_assert_ptr_nonnull(strstr(shown.data, "{\"pc\":0,\"text\":\"iinc_w 1, 1000\"}"));
	ck_assert_ptr_nonnull(
		strstr(shown.data, "\"type\":\"java.lang.RuntimeException\"},{\"from\""));
	ck_assert_ptr_nonnull(strstr(shown.data, "\"type\":null}"));
	ck_assert_ptr_nonnull(strstr(shown.data, "\"code\":null,\"exceptions\":null}"));
	show_json(javap_pool_json(&c.pool));
	ck_assert_ptr_nonnull(
		strstr(shown.data, "{\"index\":13,\"kind\":\"Methodref\",\"refers\":\"#14.#15\","
				   "\"text\":\"java/lang/String.hashCode:()I\"}"));
	ck_assert_ptr_nonnull(strstr(shown.data, "\"refers\":null,\"text\":\"tab\\t, quote \\\","));
	cf_release(&c);
}
END_TEST

/* The code has wide forms and instructions that javac no longer writes: jsr, ret, goto_w. */
START_TEST(obsolete_and_wide_instructions_are_shown)
{
	static const uint8_t code[] = { 0xa8, 0,    3,    0xc4, 0xa9, 1, 0, 0xc4, 0x15, 1, 44, 0xc8,
					0xff, 0xff, 0xff, 0xff, 0x10, 0x80, 0x11, 0x80, 0, 0xba };
	struct cf_pool pool = { .count = 0 };
	struct javap_lines l = { .out = begin() };
	struct cf_insn insn;

	for (uint32_t pc = 0; cf_insn(code, sizeof(code), pc, &insn); pc += insn.len)
		javap_insn(&l, &insn, &pool, (struct cf_text){ NULL, 0 });
	ck_assert_int_eq(fclose(l.out), 0);
	javap_lines_release(&l);
	ck_assert_str_eq(shown.data, "       0: jsr           3\n"
				     "       3: ret_w         256\n"
				     "       7: iload_w       300\n"
				     "      11: goto_w        10\n"
				     "      16: bipush        -128\n"
				     "      18: sipush        -32768\n");
}
END_TEST

/* The code has indexes outside the constant pool. */
START_TEST(missing_constants_are_shown_as_question_marks)
{
	struct cf_class c = open_class();

	javap_constant(&shown, &c.pool, 0, cf_name(&c));
	ck_assert_str_eq(shown.data, "???");
	buf_reset(&shown);
	javap_constant(&shown, &c.pool, 0xffff, cf_name(&c));
	ck_assert_str_eq(shown.data, "???");
	cf_release(&c);
}
END_TEST

START_TEST(doubles_and_floats_match_java)
{
	static const struct {
		double value;
		bool is_float;
		const char *text;
	} rows[] = {
		{ 0, false, "0.0" },
		{ -0.0, false, "-0.0" },
		{ 1, false, "1.0" },
		{ 100, false, "100.0" },
		{ 123.456, false, "123.456" },
		{ 9999999, false, "9999999.0" },
		{ 1e7, false, "1.0E7" },
		{ 12345678.5, false, "1.23456785E7" },
		{ 0.001, false, "0.001" },
		{ 0.00123, false, "0.00123" },
		{ 0.0001, false, "1.0E-4" },
		{ 1e23, false, "1.0E23" },
		{ 2e-44, false, "2.0E-44" },
		{ 5e-324, false, "4.9E-324" },
		{ 1.7976931348623157e308, false, "1.7976931348623157E308" },
		{ INFINITY, false, "Infinity" },
		{ -INFINITY, false, "-Infinity" },
		{ NAN, false, "NaN" },
		{ -NAN, false, "NaN" },
		{ 0.1f, true, "0.1" },
		{ 0.1f, false, "0.10000000149011612" },
		{ 1.17549435e-38f, true, "1.1754944E-38" },
		{ 1e-45f, true, "1.4E-45" },
		{ 16777216, true, "1.6777216E7" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		buf_reset(&shown);
		java_double(&shown, rows[i].value, rows[i].is_float);
		ck_assert_str_eq(shown.data, rows[i].text);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/class/javap");
	TCase *tc = tcase_create("render/class/javap");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, read_forms, release);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, code_and_pool_match_javap);
	tcase_add_test(tc, hostile_names_are_escaped);
	tcase_add_test(tc, damaged_class_files_do_not_crash);
	tcase_add_test(tc, methods_in_memory_are_shown_and_marked);
	tcase_add_test(tc, json_has_instructions_exceptions_and_constants);
	tcase_add_test(tc, obsolete_and_wide_instructions_are_shown);
	tcase_add_test(tc, missing_constants_are_shown_as_question_marks);
	tcase_add_test(tc, doubles_and_floats_match_java);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
