#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "proc/perfdata.h"
#include "unit/support/data.h"

static void load(const char *name, struct buf *out)
{
	_cleanup_free_ char *path = xasprintf("perfdata/%s", name);

	read_data(path, out);
}

/* Parses a copy of exact size, so that ASan detects a read past its end. */
static int parse(const void *data, size_t len, struct perfdata *out)
{
	_cleanup_buf_ struct buf copy = { xmalloc(len ? len : 1), len, len };

	if (len)
		memcpy(copy.data, data, len);
	return perfdata_parse(&copy, out);
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

START_TEST(counters_of_every_jdk_are_read)
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

START_TEST(big_endian_version_1_is_read)
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

START_TEST(entries_about_the_file_match_the_jdk)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct perfdata p;
	size_t n;

	load(_i ? "jdk1.4-big-endian" : "jdk21-g1", &b);
	ck_assert_int_eq(parse(b.data, b.len, &p), 0);
	n = p.n;
	perfdata_add_file_entries(&p);
	ck_assert_uint_eq(p.n, n + 6);
	ck_assert_int_eq(perfdata_number(&p, "sun.perfdata.majorVersion", -1), _i ? 1 : 2);
	ck_assert_int_eq(perfdata_number(&p, "sun.perfdata.size", -1), (int64_t)b.len);
	ck_assert_int_eq(perfdata_number(&p, "sun.perfdata.timestamp", -1), p.modified);
	ck_assert_int_eq(perfdata_number(&p, "sun.perfdata.overflow", -1), 0);
	perfdata_release(&p);
}
END_TEST

/* The JVM may be writing the file: each prefix yields the entries that are complete. */
START_TEST(truncated_file_yields_its_complete_entries)
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

START_TEST(other_formats_and_versions_are_refused)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char zeros[4096] = "";
	struct perfdata p;

	load("jdk21-g1", &b);
	ck_assert_int_eq(parse(zeros, sizeof(zeros), &p), -EAGAIN);
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

/* Offsets in the file, in bytes, of fields of the first entry. */
enum { LENGTH = 32, NAME = 36, VECTOR = 40, VALUE = 48 };

START_TEST(inconsistent_entry_ends_the_list)
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

START_TEST(unterminated_texts_are_terminated)
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
	/* An entry with an unterminated name is skipped; the entries after it are read. */
	at = (size_t)(e->name - p.data);
	memset(b.data + at, 'x', (size_t)(e->text - e->name));
	ck_assert_int_eq(parse(b.data, b.len, &q), 0);
	ck_assert_uint_eq(q.n, p.n - 1);
	ck_assert_ptr_null(perfdata_find(&q, "sun.rt.javaCommand"));
	perfdata_release(&q);
	perfdata_release(&p);
}
END_TEST

START_TEST(entry_count_is_not_trusted)
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
	Suite *s = suite_create("proc/perfdata");
	TCase *tc = tcase_create("proc/perfdata");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, counters_of_every_jdk_are_read, 0, (int)ARRAY_SIZE(recorded));
	tcase_add_test(tc, big_endian_version_1_is_read);
	tcase_add_loop_test(tc, entries_about_the_file_match_the_jdk, 0, 2);
	tcase_add_loop_test(tc, truncated_file_yields_its_complete_entries, 0, 3);
	tcase_add_test(tc, other_formats_and_versions_are_refused);
	tcase_add_loop_test(tc, inconsistent_entry_ends_the_list, 0, 14);
	tcase_add_test(tc, unterminated_texts_are_terminated);
	tcase_add_test(tc, entry_count_is_not_trusted);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
