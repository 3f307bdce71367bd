#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "proc/perfdata.h"
#include "data.h"

static void load(const char *name, struct buf *out)
{
	_cleanup_free_ char *path = xasprintf("perfdata/%s", name);

	read_data(path, out);
}

/* A copy of exactly this size, so that a sanitizer sees each byte read beyond it. */
static int parse(const void *data, size_t len, struct perfdata *out)
{
	_cleanup_free_ void *copy = xmalloc(len ? len : 1);

	if (len)
		memcpy(copy, data, len);
	return perfdata_parse(copy, len, out);
}

static void put_u32(struct buf *b, size_t at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		b->data[at + (size_t)i] = (char)(value >> 8 * i);
}

static const struct {
	const char *file, *version, *policy;
} recorded[] = {
	{ "jdk8-serial", "1.8.0_504", "Copy:MSC" },
	{ "jdk8-parallel", "1.8.0_504", "ParScav:MSC" },
	{ "jdk8-g1", "1.8.0_504", "GarbageFirst" },
	{ "jdk8-cms", "1.8.0_504", "ParNew:CMS" },
	{ "jdk11-epsilon", "11.0.33-ea", NULL },
	{ "jdk17-zgc", "17.0.21.0.3", NULL },
	{ "jdk21-g1", "21.0.13.0.3", "GarbageFirst" },
	{ "jdk25-parallel", "25.0.5.0.3", "ParScav:MSC" },
	{ "jdk27-serial", "27.0.1.0.3", "Copy:MSC" },
};

START_TEST(every_jdk_is_read)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct perfdata p;
	const char *policy;

	load(recorded[_i].file, &b);
	ck_assert_int_eq(parse(b.data, b.len, &p), 0);
	ck_assert_str_eq(perfdata_text(&p, "java.property.java.version"), recorded[_i].version);
	ck_assert_str_eq(perfdata_text(&p, "sun.rt.javaCommand"), "Sleep a b c");
	policy = perfdata_text(&p, "sun.gc.policy.name");
	ck_assert(policy ? recorded[_i].policy && strcmp(policy, recorded[_i].policy) == 0
			 : !recorded[_i].policy);
	ck_assert_int_gt(perfdata_number(&p, "sun.gc.generation.1.space.0.used", -1), 7 << 20);
	ck_assert_int_ge(perfdata_number(&p, "sun.gc.generation.1.maxCapacity", -1), 32 << 20);
	ck_assert_ptr_null(perfdata_text(&p, "sun.gc.generation.1.maxCapacity"));
	ck_assert_int_eq(perfdata_number(&p, "sun.rt.javaCommand", -7), -7);
	ck_assert_int_eq(perfdata_number(&p, "no.such", 42), 42);
	ck_assert_int_ne(p.modified, 0);
	perfdata_release(&p);
	ck_assert_uint_eq(p.n, 0);
}
END_TEST

START_TEST(version_1_big_endian_is_read)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct perfdata p;

	load("jdk1.4-big-endian", &b);
	ck_assert_int_eq(parse(b.data, b.len, &p), 0);
	ck_assert_uint_eq(p.n, 5);
	ck_assert_str_eq(perfdata_text(&p, "java.vm.version"), "1.4.2-b28");
	ck_assert_int_eq(perfdata_number(&p, "hotspot.rt.hrt.ticks", 0), 123456789012);
	ck_assert_int_eq(perfdata_number(&p, "hotspot.gc.generation.0.space.0.used", 0), -2);
	ck_assert_int_eq(perfdata_find(&p, "java.vm.name")->units, PERF_UNIT_STRING);
	ck_assert_int_eq(p.modified, 77);
	perfdata_release(&p);
}
END_TEST

START_TEST(the_file_counts_as_the_jdk_shows_it)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct perfdata p;
	size_t n;

	load(_i ? "jdk1.4-big-endian" : "jdk21-g1", &b);
	ck_assert_int_eq(parse(b.data, b.len, &p), 0);
	n = p.n;
	perfdata_add_own(&p);
	ck_assert_uint_eq(p.n, n + 6);
	ck_assert_int_eq(perfdata_number(&p, "sun.perfdata.majorVersion", -1), _i ? 1 : 2);
	ck_assert_int_eq(perfdata_number(&p, "sun.perfdata.size", -1), (int64_t)b.len);
	ck_assert_int_eq(perfdata_number(&p, "sun.perfdata.timestamp", -1), p.modified);
	ck_assert_int_eq(perfdata_number(&p, "sun.perfdata.overflow", -1), 0);
	perfdata_release(&p);
}
END_TEST

/* The JVM may be anywhere in writing it: each prefix gives what is whole of it. */
START_TEST(a_cut_file_gives_its_whole_entries)
{
	static const char *const files[] = { "jdk8-cms", "jdk27-shenandoah", "jdk1.4-big-endian" };
	_cleanup_buf_ struct buf b = BUF_INIT;
	size_t before = 0, header = _i == 2 ? 24 : 32;

	load(files[_i], &b);
	for (size_t len = 0; len <= b.len; len++) {
		struct perfdata p;
		int rc = parse(b.data, len, &p);

		ck_assert_int_eq(rc, len == 0 ? -EAGAIN : len < header ? -EBADMSG : 0);
		ck_assert_uint_ge(p.n, before);
		before = p.n;
		perfdata_release(&p);
	}
	ck_assert_uint_ge(before, 5);
}
END_TEST

START_TEST(what_is_no_hsperfdata_is_refused)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char blank[4096] = "";
	struct perfdata p;

	load("jdk21-g1", &b);
	ck_assert_int_eq(parse(blank, sizeof(blank), &p), -EAGAIN);
	b.data[7] = 0;
	ck_assert_int_eq(parse(b.data, b.len, &p), -EAGAIN);
	ck_assert_uint_eq(p.n, 0);
	ck_assert_ptr_null(p.data);
	b.data[5] = 3;
	ck_assert_int_eq(parse(b.data, b.len, &p), -EPROTONOSUPPORT);
	b.data[4] = 2;
	ck_assert_int_eq(parse(b.data, b.len, &p), -EBADMSG);
	b.data[0] = 0;
	ck_assert_int_eq(parse(b.data, b.len, &p), -EBADMSG);
}
END_TEST

/* The first entry of a file is changed; its fields stand at 32. */
enum { LENGTH = 32, NAME = 36, VECTOR = 40, VALUE = 48 };

START_TEST(an_entry_that_makes_no_sense_ends_the_list)
{
	static const struct {
		size_t at;
		uint32_t value;
	} bad[] = {
		{ LENGTH, 0 }, { LENGTH, 19 }, { LENGTH, 0x7fffffff }, { LENGTH, 0xffffffff },
		{ NAME, 0 }, { NAME, 0xffffffff }, { NAME, 0x10000 }, { VECTOR, 0xffffffff },
		{ VECTOR, 0x7fffffff }, { VALUE, 0xffffffff }, { VALUE, 0x7ffffff8 },
		{ 24, 0xffffffff }, { 24, 0x7fffffff }, { 28, 0 },
	};
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct perfdata p;

	load("jdk21-g1", &b);
	put_u32(&b, bad[_i].at, bad[_i].value);
	ck_assert_int_eq(parse(b.data, b.len, &p), 0);
	ck_assert_uint_eq(p.n, 0);
	perfdata_release(&p);
}
END_TEST

START_TEST(texts_end_whatever_the_file_says)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct perfdata p, q;
	const struct perf_entry *e;
	size_t at, len;

	load("jdk21-g1", &b);
	ck_assert_int_eq(parse(b.data, b.len, &p), 0);
	e = perfdata_find(&p, "sun.rt.javaCommand");
	at = (size_t)(e->text - p.data);
	len = strlen(e->text);
	b.data[at + len] = '!';
	ck_assert_int_eq(parse(b.data, b.len, &q), 0);
	ck_assert_uint_eq(q.n, p.n);
	ck_assert_uint_eq(strlen(perfdata_text(&q, "sun.rt.javaCommand")), len);
	perfdata_release(&q);
	/* A name without an end is left out, and the entries behind it are not. */
	at = (size_t)(e->name - p.data);
	memset(b.data + at, 'x', (size_t)(e->text - e->name));
	ck_assert_int_eq(parse(b.data, b.len, &q), 0);
	ck_assert_uint_eq(q.n, p.n - 1);
	ck_assert_ptr_null(perfdata_find(&q, "sun.rt.javaCommand"));
	perfdata_release(&q);
	perfdata_release(&p);
}
END_TEST

START_TEST(the_number_of_entries_is_not_believed)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct perfdata p, q;

	load("jdk21-g1", &b);
	ck_assert_int_eq(parse(b.data, b.len, &p), 0);
	put_u32(&b, 28, 0xffffffff);
	ck_assert_int_eq(parse(b.data, b.len, &q), 0);
	ck_assert_uint_eq(q.n, p.n);
	perfdata_release(&p);
	perfdata_release(&q);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perfdata");
	TCase *tc = tcase_create("parse");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, every_jdk_is_read, 0, (int)ARRAY_SIZE(recorded));
	tcase_add_test(tc, version_1_big_endian_is_read);
	tcase_add_loop_test(tc, the_file_counts_as_the_jdk_shows_it, 0, 2);
	tcase_add_loop_test(tc, a_cut_file_gives_its_whole_entries, 0, 3);
	tcase_add_test(tc, what_is_no_hsperfdata_is_refused);
	tcase_add_loop_test(tc, an_entry_that_makes_no_sense_ends_the_list, 0, 14);
	tcase_add_test(tc, texts_end_whatever_the_file_says);
	tcase_add_test(tc, the_number_of_entries_is_not_believed);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
