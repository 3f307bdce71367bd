#include <check.h>
#include <stdint.h>
#include <string.h>

#include "discover/jvm_record.h"

static struct jvm sample(void)
{
	return (struct jvm){
		.pid = 4711, .nspid = 1, .uid = 1000, .gid = 100, .start_ticks = 12345,
		.version = (char *)"17.0.15", .vm = (char *)"OpenJDK", .gc = (char *)"G1",
		.main = (char *)"com.acme.Main", .args = (char *)"", .flags = (char *)"-Xmx1g",
		.perfdata = (char *)"/tmp/hsperfdata_app/1", .tmp = (char *)"/tmp/x",
		.hung = (char *)"the file system of its directory /tmp (nfs at /)",
		.uptime = 1.5, .heap_used = 7, .heap_max = -1, .heap_committed = 8,
		.heap_bound = 9, .classes = 10, .has_perfdata = true,
		.is_hotspot = true, .initialised = true, .listed_ns = 99,
		.attach = ATTACH_UNREACHABLE,
	};
}

START_TEST(record_has_all_fields)
{
	const struct jvm jvm = sample();
	_cleanup_buf_ struct buf record = BUF_INIT;
	struct jvm *got;

	jvm_record_add(&record, &jvm);
	got = jvm_record_parse(record.data, record.len);
	ck_assert_ptr_nonnull(got);
	ck_assert_int_eq(got->pid, 4711);
	ck_assert_int_eq(got->nspid, 1);
	ck_assert_uint_eq(got->uid, 1000);
	ck_assert_uint_eq(got->gid, 100);
	ck_assert_uint_eq(got->start_ticks, 12345);
	ck_assert_str_eq(got->version, "17.0.15");
	ck_assert_str_eq(got->vm, "OpenJDK");
	ck_assert_str_eq(got->gc, "G1");
	ck_assert_str_eq(got->main, "com.acme.Main");
	ck_assert_str_eq(got->args, "");
	ck_assert_str_eq(got->flags, "-Xmx1g");
	ck_assert_ptr_null(got->container);
	ck_assert_str_eq(got->perfdata, "/tmp/hsperfdata_app/1");
	ck_assert_ptr_null(got->perfdata_link);
	ck_assert_str_eq(got->tmp, "/tmp/x");
	ck_assert_str_eq(got->hung, jvm.hung);
	ck_assert_double_eq(got->uptime, 1.5);
	ck_assert_int_eq(got->heap_used, 7);
	ck_assert_int_eq(got->heap_max, -1);
	ck_assert_int_eq(got->heap_committed, 8);
	ck_assert_int_eq(got->heap_bound, 9);
	ck_assert_int_eq(got->classes, 10);
	ck_assert(got->has_perfdata && got->is_hotspot && got->initialised);
	ck_assert(!got->no_attach && !got->starting);
	ck_assert_int_eq(got->listed_ns, 99);
	ck_assert_int_eq(got->attach, ATTACH_UNREACHABLE);
	ck_assert_str_eq(attach_state_name(got->attach), "unreachable");
	jvm_free(got);
}
END_TEST

START_TEST(record_is_rejected_at_every_other_length)
{
	const struct jvm jvm = sample();
	_cleanup_buf_ struct buf record = BUF_INIT;

	jvm_record_add(&record, &jvm);
	for (size_t len = 0; len < record.len; len++) {
		/* A copy of exact size: ASan detects a read past its end. */
		_cleanup_free_ char *cut = malloc(len ? len : 1);

		memcpy(cut, record.data, len);
		ck_assert_ptr_null(jvm_record_parse(cut, len));
	}
	buf_addc(&record, '\0');
	ck_assert_ptr_null(jvm_record_parse(record.data, record.len));
}
END_TEST

START_TEST(changed_record_is_rejected_or_harmless)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	const struct jvm jvm = sample();
	_cleanup_buf_ struct buf record = BUF_INIT;

	jvm_record_add(&record, &jvm);
	for (size_t at = 0; at < record.len; at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			char saved = record.data[at];
			struct jvm *got;

			record.data[at] = (char)values[i];
			got = jvm_record_parse(record.data, record.len);
			record.data[at] = saved;
			ck_assert(!got || (got->attach <= ATTACH_LAST && got->pid > 0));
			jvm_free(got);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("discover/jvm_record");
	TCase *tc = tcase_create("discover/jvm_record");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, record_has_all_fields);
	tcase_add_test(tc, record_is_rejected_at_every_other_length);
	tcase_add_test(tc, changed_record_is_rejected_or_harmless);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
