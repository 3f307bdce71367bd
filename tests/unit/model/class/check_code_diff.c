/* Code compared: two bodies, two classes; and the names that tools leave in a class. */
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "classfile/same.h"
#include "data.h"
#include "model/codediff.h"
#include "model/instrumented.h"

static struct ag_mem mem = { .budget = SIZE_MAX };
static struct buf file;

static void read_forms(void)
{
	read_data("javap/Forms.class", &file);
}

static void forget(void)
{
	buf_release(&file);
	ck_assert_uint_eq(mem.blocks, 0);
}

/* #1 is 7 and #2 is 8; the other way around; a String, and a handle that leads to itself. */
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
	int rc = cf_same_code(&x, &y, &mem);

	ck_assert_int_eq(cf_same_code(&y, &x, &mem), rc);
	cf_pool_release(&p);
	cf_pool_release(&q);
	return rc;
}
#define SAME(a, b) same(a, sizeof(a) - 1, b, sizeof(b) - 1)

START_TEST(bodies)
{
	/* ldc 7, ireturn, by each pool's own number, short and long */
	ck_assert_int_eq(SAME("\x12\x01\xac", "\x12\x02\xac"), 1);
	ck_assert_int_eq(SAME("\x12\x01\xac", "\x13\x00\x02\xac"), 1);
	ck_assert_int_eq(SAME("\x12\x01\xac", "\x12\x01\xac"), 0);
	/* goto over an ldc; the offset differs with the ldc's length, the target does not */
	ck_assert_int_eq(SAME("\xa7\x00\x05\x12\x01\xb1", "\xa7\x00\x06\x13\x00\x02\xb1"), 1);
	ck_assert_int_eq(SAME("\xa7\x00\x05\x12\x01\xb1", "\xc8\x00\x00\x00\x08\x13\x00\x02\xb1"),
			 1);
	ck_assert_int_eq(SAME("\xa7\x00\x05\x12\x01\xb1", "\xa7\x00\x03\x12\x02\xb1"), 0);
	/* jumps into an operand, before the code, behind it: no code */
	ck_assert_int_eq(SAME("\xa7\x00\x01\xb1", "\xa7\x00\x01\xb1"), 0);
	ck_assert_int_eq(SAME("\xa7\xff\xff\xb1", "\xa7\xff\xff\xb1"), 0);
	ck_assert_int_eq(SAME("\xa7\x00\x04\xb1", "\xa7\x00\x04\xb1"), 0);
	/* another local, another value, another instruction, one more, none */
	ck_assert_int_eq(SAME("\x15\x05\xac", "\x15\x05\xac"), 1);
	ck_assert_int_eq(SAME("\x15\x05\xac", "\xc4\x15\x00\x05\xac"), 1);
	ck_assert_int_eq(SAME("\x15\x05\xac", "\x15\x06\xac"), 0);
	ck_assert_int_eq(SAME("\x10\x05\xac", "\x10\x06\xac"), 0);
	ck_assert_int_eq(SAME("\x04\xac", "\x05\xac"), 0);
	ck_assert_int_eq(SAME("\x04\xac", "\x04\x00\xac"), 0);
	ck_assert_int_eq(SAME("\xb1", ""), 0);
	ck_assert_int_eq(SAME("\xfd", "\xfd"), 0);
	/* a constant that is not there, and one that is only itself */
	ck_assert_int_eq(SAME("\x12\x09\xac", "\x12\x09\xac"), 0);
	ck_assert_int_eq(SAME("\x12\x03\xac", "\x12\x03\xac"), 0);
}
END_TEST

START_TEST(switches)
{
	static const char table[] = "\xaa\0\0\0\0\0\0\x14\0\0\0\1\0\0\0\2\0\0\0\x14\0\0\0\x15"
				    "\xb1\x04\xac"; /* … */
	char other[sizeof(table)];

	memcpy(other, table, sizeof(table));
	ck_assert_int_eq(SAME(table, "\xb1"), 0);
	ck_assert_int_eq(same(table, sizeof(table) - 1, other, sizeof(table) - 1), 0);
	memcpy(other + 4, "\0\0\0\x18", 4);
	memcpy(other + 16, "\0\0\0\x18\0\0\0\x19", 8);
	ck_assert_int_eq(same(other, sizeof(table) - 1, other, sizeof(table) - 1), 1);
}
END_TEST

START_TEST(no_memory)
{
	struct cf_pool p = pool_of(up);
	static const uint8_t code[] = { 0x12, 0x01, 0xac };
	const struct cf_body body = { .pool = &p, .code = code, .len = sizeof(code) };

	mem.budget = mem.bytes + 20;
	ck_assert_int_eq(cf_same_code(&body, &body, &mem), -1);
	mem.budget = SIZE_MAX;
	cf_pool_release(&p);
}
END_TEST

static void replace(struct buf *b, const char *old, const char *new)
{
	char *at = memmem(b->data, b->len, old, strlen(old));

	ck_assert_uint_eq(strlen(old), strlen(new));
	ck_assert_ptr_nonnull(at);
	memcpy(at, new, strlen(new));
}

/* The differences of the captured class to the file as lines. */
static const char *compared(const struct captured *running)
{
	static struct buf text;
	struct codediff diff = { 0 };
	struct cf_class c;

	buf_reset(&text);
	ck_assert_ptr_null(cf_open(&c, file.data, file.len, &mem));
	ck_assert_ptr_null(codediff_compare(&diff, running, &c));
	for (size_t i = 0; i < diff.n; i++)
		buf_addf(&text, "%s: %s\n", codediff_word(diff.rows[i].kind),
			 diff.rows[i].method);
	buf_addf(&text, "%zu same", diff.n_same);
	codediff_release(&diff);
	cf_release(&c);
	return buf_str(&text);
}

static void add_method(struct captured *c, const char *name, const char *descriptor,
		       const char *code)
{
	c->methods = xgrow(c->methods, c->n_methods, &c->cap_methods, sizeof(*c->methods));
	c->methods[c->n_methods] = (struct captured_method){ .name = xstrdup(name),
							     .descriptor = xstrdup(descriptor) };
	buf_adds(&c->methods[c->n_methods++].code, code);
}

/* Code, a name and a signature that differ; both sides' abstract and native methods are same. */
START_TEST(class_files)
{
	struct captured c = { .outcome = 0 };

	buf_add(&c.file, file.data, file.len);
	ck_assert_str_eq(compared(&c), "10 same");
	replace(&c.file, "\x26\x24\x8d\x63\xaf", "\x26\x24\x8d\x6b\xaf"); /* sum: dmul */
	replace(&c.file, "guarded", "renamed");
	ck_assert_str_eq(compared(&c),
			 "code differs: double sum(double, float)\n"
			 "only in the file: int guarded(java.util.concurrent.Callable)\n"
			 "only in memory: int renamed(java.util.concurrent.Callable)\n"
			 "8 same");
	captured_release(&c);
}
END_TEST

START_TEST(of_memory)
{
	struct captured c = { .memory = true, .pool_count = 1 };

	buf_add(&c.file, file.data, file.len);
	add_method(&c, "sum", "(DF)D", "\x26\xaf");
	ck_assert_str_eq(compared(&c), "code differs: double sum(double, float)\n9 same");
	add_method(&c, "added", "()V", "\xb1");
	ck_assert_str_eq(compared(&c), "code differs: double sum(double, float)\n"
				       "only in memory: void added()\n9 same");
	/* no class file, only the code of two methods: abstract and native ones are not told */
	buf_reset(&c.file);
	ck_assert_ptr_nonnull(strstr(compared(&c), "only in memory: void added()\n0 same"));
	ck_assert_ptr_null(strstr(compared(&c), "fails"));
	ck_assert_ptr_nonnull(strstr(compared(&c), "only in the file: <init>(int[])\n"));
	captured_release(&c);
}
END_TEST

START_TEST(unreadable)
{
	struct captured c = { .memory = true, .pool_count = 2 };
	struct codediff diff = { 0 };
	struct cf_class class;

	ck_assert_ptr_null(cf_open(&class, file.data, file.len, &mem));
	add_method(&c, "sum", "(DF)D", "\x26\xaf");
	ck_assert_str_eq(codediff_compare(&diff, &c, &class), "the constant pool ends too early");
	buf_adds(&c.file, "no class");
	ck_assert_str_eq(codediff_compare(&diff, &c, &class), "it does not begin as one");
	ck_assert_uint_eq(diff.n, 0);
	cf_release(&class);
	captured_release(&c);
}
END_TEST

static const char *signs(void)
{
	const char *words[INSTRUMENTED_MAX];
	static struct buf text;
	struct cf_class c;
	size_t n;

	buf_reset(&text);
	ck_assert_ptr_null(cf_open(&c, file.data, file.len, &mem));
	n = instrumented_by(&c, &c.pool, words);
	for (size_t i = 0; i < n; i++)
		buf_addf(&text, "%s%s", i ? ", " : "", words[i]);
	cf_release(&c);
	return buf_str(&text);
}

START_TEST(instrumented)
{
	ck_assert_str_eq(signs(), "");
	replace(&file, "java/util/concurrent/Callable", "java/arthas/SpyAPI.atEnter...");
	ck_assert_str_eq(signs(), "Arthas: watch, trace or the like");
	replace(&file, "SINGLES", "ajc$tjp");
	replace(&file, "guarded", "$jacoco");
	ck_assert_str_eq(signs(), "Arthas: watch, trace or the like, JaCoCo: counts which code "
				  "runs, AspectJ: woven, or an aspect");
}
END_TEST

static void add_name(const char *name)
{
	const uint8_t utf8[] = { CF_UTF8, 0, (uint8_t)strlen(name) };

	buf_add(&file, utf8, sizeof(utf8));
	buf_adds(&file, name);
}

/* The signs of a class with nothing but a name and a superclass. */
static const char *signs_of(const char *name, const char *super)
{
	static const uint8_t head[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 5 };
	static const uint8_t tail[] = { CF_CLASS, 0, 1, CF_CLASS, 0, 2, 0, 0x21, 0, 3, 0,
					4,	  0, 0, 0,	  0, 0, 0, 0,	 0 };

	buf_reset(&file);
	buf_add(&file, head, sizeof(head));
	add_name(name);
	add_name(super);
	buf_add(&file, tail, sizeof(tail));
	return signs();
}

START_TEST(whose_name)
{
	ck_assert_str_eq(signs_of("p/C", "java/lang/Object"), "");
	ck_assert_str_eq(signs_of("p/C", "datadog/trace/bootstrap/A"), "Datadog's agent");
	ck_assert_str_eq(signs_of("datadog/C", "datadog/trace/bootstrap/A"), ""); /* at home */
	ck_assert_str_eq(signs_of("one/profiler/Instrument", "one/profiler/Instrument"), "");
	ck_assert_str_eq(signs_of("p/C$$SpringCGLIB$$0", "p/C"), "Spring: a generated subclass");
	ck_assert_str_eq(signs_of("p/$Proxy1", "java/lang/reflect/Proxy"),
			 "java.lang.reflect: a generated proxy");
	ck_assert_str_eq(signs_of("p/C$ByteBuddy$1", "one/profiler/InstrumentX"),
			 "async-profiler: measures calls, Byte Buddy: generated");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("codediff");
	TCase *tc = tcase_create("codediff");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, read_forms, forget);
	tcase_add_test(tc, bodies);
	tcase_add_test(tc, switches);
	tcase_add_test(tc, no_memory);
	tcase_add_test(tc, class_files);
	tcase_add_test(tc, of_memory);
	tcase_add_test(tc, unreadable);
	tcase_add_test(tc, instrumented);
	tcase_add_test(tc, whose_name);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
