/* pprof profiles: those that jtool writes are read again, and defects are found. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/profile/pprof_read.h"
#include "render/profile/collapsed.h"
#include "render/profile/pprof.h"

#define MAX ((size_t)1 << 20)

/* Types "a" and "b", default "a"; function 1 is "f", 2 is "g"; location 1 is g inlined into f. */
#define TYPES "\x0a\x02\x08\x01", "\x0a\x02\x08\x02"
#define TABLES                                                                                \
	"\x22\x0a\x08\x01\x22\x02\x08\x02\x22\x02\x08\x01", "\x2a\x04\x08\x01\x10\x03",       \
	"\x2a\x04\x08\x02\x10\x04", "\x32", "\x32\x01" "a", "\x32\x01" "b", "\x32\x01" "f",   \
	"\x32\x01" "g"

static void assert_stacks(const void *data, size_t len, const char *stacks)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct call_tree t;

	call_tree_init(&t, "", NULL);
	ck_assert_int_eq(pprof_read(&t, data, len), 0);
	call_tree_sum(&t);
	collapsed_add(&out, &t, 0);
	ck_assert_str_eq(buf_str(&out), stacks);
	call_tree_release(&t);
}

/* Joins the fields.  "\x32" stands for "\x32\0", an empty string: a C string ends at a NUL. */
static void join(struct buf *out, const char *const *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, fields[i]);
		if (strcmp(fields[i], "\x32") == 0)
			buf_addc(out, '\0');
	}
}

#define JOIN(out, ...)                                                                        \
	join(out, (const char *const[]){ __VA_ARGS__ },                                       \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void add(struct call_tree *t, const char *outer, const char *inner, uint64_t value)
{
	const uint64_t values[CALL_TREE_VALUES] = { value, 1 };

	call_tree_add(t, call_tree_child(t, call_tree_child(t, 0, outer), inner), values);
}

START_TEST(what_was_written_is_read)
{
	_cleanup_buf_ struct buf file = BUF_INIT, message = BUF_INIT;
	struct call_tree t;
	const struct pprof_profile profile = { .trees = { &t }, .time_ns = 1, .period_ns = 2 };

	call_tree_init(&t, "bytes", "objects");
	add(&t, "a.B.main(B.java:12)", "byte[]", 300);
	add(&t, "a.B.main(B.java:13)", "(unknown)", 5);
	call_tree_sum(&t);
	pprof_add(&file, &profile);
	ck_assert(pprof_is_gzip(file.data, file.len));
	ck_assert_int_eq(pprof_expand(&message, file.data, file.len, MAX), 0);
	ck_assert(!pprof_is_gzip(message.data, message.len));
	assert_stacks(message.data, message.len,
		      "a.B.main;(unknown) 5\na.B.main;byte[] 300\n");
	call_tree_release(&t);
}
END_TEST

START_TEST(inlined_functions_are_frames)
{
	_cleanup_buf_ struct buf m = BUF_INIT;

	/* The first sample has its location and values as arrays, the second as single numbers. */
	JOIN(&m, TYPES, "\x12\x07\x0a\x01\x01\x12\x02\x05\x07", "\x12\x06\x08\x01\x10\x01\x10\x02",
	     TABLES, "\x70\x01");
	assert_stacks(m.data, m.len, "f;g 6\n");
}
END_TEST

START_TEST(last_value_is_the_default)
{
	_cleanup_buf_ struct buf m = BUF_INIT;

	JOIN(&m, TYPES, "\x12\x07\x0a\x01\x01\x12\x02\x05\x07", TABLES);
	assert_stacks(m.data, m.len, "f;g 7\n");
}
END_TEST

START_TEST(unknown_location_is_a_frame)
{
	_cleanup_buf_ struct buf m = BUF_INIT;

	JOIN(&m, TYPES, "\x12\x07\x0a\x01\x09\x12\x02\x05\x07", TABLES);
	assert_stacks(m.data, m.len, "(unknown method) 7\n");
}
END_TEST

static const struct {
	const char *name, *field;
} defects[] = {
	{ "one value of two", "\x12\x06\x0a\x01\x01\x12\x01\x05" },
	{ "a field beyond the end", "\x12\x70\x0a" },
	{ "an unknown encoding", "\x13\x01" },
	{ "an array that ends within a number", "\x12\x07\x0a\x01\x01\x12\x02\x05\x87" },
};

START_TEST(defects_are_found)
{
	_cleanup_buf_ struct buf m = BUF_INIT;
	struct call_tree t;

	JOIN(&m, TYPES, TABLES, defects[_i].field);
	call_tree_init(&t, "", NULL);
	ck_assert_msg(pprof_read(&t, m.data, m.len) == -EBADMSG, "%s", defects[_i].name);
	call_tree_release(&t);
}
END_TEST

START_TEST(message_cut_at_every_byte_does_no_harm)
{
	_cleanup_buf_ struct buf m = BUF_INIT;

	JOIN(&m, TYPES, TABLES, "\x12\x07\x0a\x01\x01\x12\x02\x05\x07");
	for (size_t len = 0; len < m.len; len++) {
		char *exact = xmalloc(len + 1);
		struct call_tree t;
		int rc;

		memcpy(exact, m.data, len);
		call_tree_init(&t, "", NULL);
		rc = pprof_read(&t, exact, len);
		if (len > m.len - 9 || len == 0) /* within the sample, which is the last field */
			ck_assert_int_eq(rc, -EBADMSG);
		else /* a cut between two fields may leave a complete message */
			ck_assert(rc == 0 || rc == -EBADMSG);
		call_tree_release(&t);
		free(exact);
	}
}
END_TEST

START_TEST(damaged_and_large_gzip_is_refused)
{
	_cleanup_buf_ struct buf file = BUF_INIT, out = BUF_INIT;
	struct call_tree t;
	const struct pprof_profile profile = { .trees = { &t } };

	call_tree_init(&t, "bytes", NULL);
	add(&t, "a", "b", 1);
	call_tree_sum(&t);
	pprof_add(&file, &profile);
	ck_assert_int_eq(pprof_expand(&out, file.data, file.len, 4), -EFBIG);
	for (size_t len = 0; len < file.len; len++)
		ck_assert_int_eq(pprof_expand(&out, file.data, len, MAX), -EBADMSG);
	file.data[file.len - 5] ^= 1; /* the checksum */
	ck_assert_int_eq(pprof_expand(&out, file.data, file.len, MAX), -EBADMSG);
	call_tree_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/profile/pprof_read");
	TCase *tc = tcase_create("model/profile/pprof_read");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, what_was_written_is_read);
	tcase_add_test(tc, inlined_functions_are_frames);
	tcase_add_test(tc, last_value_is_the_default);
	tcase_add_test(tc, unknown_location_is_a_frame);
	tcase_add_loop_test(tc, defects_are_found, 0, (int)ARRAY_SIZE(defects));
	tcase_add_test(tc, message_cut_at_every_byte_does_no_harm);
	tcase_add_test(tc, damaged_and_large_gzip_is_refused);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
