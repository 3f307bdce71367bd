/* Heap dumps: the reply of the JVM, and whether the file is complete. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "model/hprof/hprof_check.h"

/* Replies of JDK 8, 11, 17 and 25. */
static const struct {
	const char *text;
	bool done, incomplete;
	int64_t bytes;
	const char *reason;
} answers[] = {
	{ "Heap dump file created\n", true, false, -1, NULL },
	{ "Dumping heap to /tmp/x ...\nHeap dump file created [61528857 bytes in 0.170 secs]\n",
	  true, false, 61528857, NULL },
	{ "File exists\n", false, false, -1, "File exists" },
	{ "Dumping heap to /tmp/x ...\nUnable to create /tmp/x: No such file or directory\n", false,
	  false, -1, "Unable to create /tmp/x: No such file or directory" },
	{ "Dumping heap to /tmp/x ...\nDump file is incomplete: Broken pipe\n", false, true, -1,
	  "Dump file is incomplete: Broken pipe" },
	{ "java.lang.IllegalArgumentException: Unknown argument\n\n", false, false, -1,
	  "java.lang.IllegalArgumentException: Unknown argument" },
	{ "", false, false, -1, "" },
	{ "\n\n", false, false, -1, "" },
};

START_TEST(replies_are_classified)
{
	struct hprof_answer a = hprof_answer_parse(answers[_i].text);

	ck_assert_int_eq(a.done, answers[_i].done);
	ck_assert_int_eq(a.incomplete, answers[_i].incomplete);
	ck_assert_int_eq(a.bytes, answers[_i].bytes);
	if (!answers[_i].reason) {
		ck_assert_ptr_null(a.reason);
		return;
	}
	ck_assert_uint_eq(a.len, strlen(answers[_i].reason));
	ck_assert(memcmp(a.reason, answers[_i].reason, a.len) == 0);
}
END_TEST

START_TEST(features_are_read_from_the_help_text)
{
	struct hprof_features jdk8 = hprof_features_parse("\t-all : [optional] Dump all objects\n");
	struct hprof_features jdk17 = hprof_features_parse("\t-all\n\t-gz : \n\t-overwrite : \n");
	struct hprof_features jdk25 =
		hprof_features_parse("\t-gz : \n\t-overwrite : \n\t-parallel : \n");

	ck_assert(!jdk8.gzip && !jdk8.overwrite && !jdk8.segments);
	ck_assert(jdk17.gzip && jdk17.overwrite && !jdk17.segments);
	ck_assert(jdk25.gzip && jdk25.overwrite && jdk25.segments);
}
END_TEST

static void add_header(struct buf *b)
{
	static const char magic[] = "JAVA PROFILE 1.0.2";
	static const char rest[12] = { 0, 0, 0, 8 };

	buf_add(b, magic, sizeof(magic));
	buf_add(b, rest, sizeof(rest));
}

static void add_record(struct buf *b, int tag, size_t len)
{
	const char head[9] = { (char)tag, 0, 0, 0, 0, 0, 0, (char)(len >> 8), (char)len };

	buf_add(b, head, sizeof(head));
	memset(buf_reserve(b, len), 'x', len);
	b->len += len;
}

/* Makes a dump of four records; the last one is HEAP DUMP END. */
static void make_dump(struct buf *b)
{
	add_header(b);
	add_record(b, 0x01, 20);
	add_record(b, 0x02, 0);
	add_record(b, 0x1c, 700);
	add_record(b, 0x2c, 0);
}

/* Walks the first `size` bytes of the file, `window` bytes at a time, as the command does. */
static int walk(const struct buf *b, size_t size, size_t window)
{
	struct hprof_walk w = { .size = size };
	int rc;

	do {
		size_t n = size - (size_t)w.at < window ? size - (size_t)w.at : window;
		/* A copy of exact size: ASan detects reads past the end. */
		uint8_t *exact = malloc(n ? n : 1);

		memcpy(exact, b->data + w.at, n);
		rc = hprof_walk_step(&w, exact, n);
		free(exact);
	} while (rc > 0);
	return rc;
}

START_TEST(complete_dump_is_accepted)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	make_dump(&b);
	for (size_t window = HPROF_READ; window <= b.len + 1; window++)
		ck_assert_int_eq(walk(&b, b.len, window), 0);
}
END_TEST

START_TEST(truncated_dump_is_rejected)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	make_dump(&b);
	for (size_t len = 0; len < b.len; len++) {
		ck_assert_int_eq(walk(&b, len, HPROF_READ), -EBADMSG);
		ck_assert_int_eq(walk(&b, len, 4096), -EBADMSG);
	}
}
END_TEST

START_TEST(damaged_dump_is_rejected)
{
	_cleanup_buf_ struct buf more = BUF_INIT, other = BUF_INIT, huge = BUF_INIT;

	make_dump(&more);
	buf_addc(&more, 0);
	ck_assert_int_eq(walk(&more, more.len, 4096), -EBADMSG);
	add_record(&more, 0x2c, 0);
	ck_assert_int_eq(walk(&more, more.len, 4096), -EBADMSG);

	make_dump(&other);
	other.data[13] = '9'; /* JAVA PROFILE 9.0.2 does not exist. */
	ck_assert_int_eq(walk(&other, other.len, 4096), -EBADMSG);

	make_dump(&huge);
	memset(huge.data + HPROF_READ + 5, 0xff, 4); /* the first record's length */
	ck_assert_int_eq(walk(&huge, huge.len, 4096), -EBADMSG);
}
END_TEST

/* A hole in a sparse file reads as zeros: records with tag 0. */
START_TEST(records_without_a_tag_are_rejected)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	add_header(&b);
	add_record(&b, 0, 0);
	add_record(&b, 0x2c, 0);
	ck_assert_int_eq(walk(&b, b.len, 4096), -EBADMSG);
}
END_TEST

/* Returns after how many bytes the stream is refused, or b->len if it is accepted. */
static size_t stream(const struct buf *b, size_t window, bool gzip)
{
	struct hprof_stream s = { .gzip = gzip };
	size_t at = 0;

	while (at < b->len) {
		size_t n = b->len - at < window ? b->len - at : window;
		uint8_t *exact = malloc(n);
		int rc;

		memcpy(exact, b->data + at, n);
		rc = hprof_stream_take(&s, exact, n);
		free(exact);
		ck_assert(rc == 0 || rc == -EBADMSG);
		if (rc < 0)
			break;
		at += n;
	}
	return at;
}

START_TEST(stream_is_accepted_in_pieces_of_any_size)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	make_dump(&b);
	for (size_t window = 1; window <= b.len; window++)
		ck_assert_uint_eq(stream(&b, window, false), b.len);
}
END_TEST

START_TEST(stream_is_complete_only_at_its_end)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct hprof_stream s = { .gzip = false };

	make_dump(&b);
	for (size_t i = 0; i < b.len; i++) {
		uint8_t byte = (uint8_t)b.data[i];

		ck_assert(!hprof_stream_is_complete(&s));
		ck_assert_int_eq(hprof_stream_take(&s, &byte, 1), 0);
	}
	ck_assert(hprof_stream_is_complete(&s));
}
END_TEST

START_TEST(stream_is_refused_at_the_first_wrong_byte)
{
	_cleanup_buf_ struct buf zeros = BUF_INIT, more = BUF_INIT, hole = BUF_INIT, gz = BUF_INIT;

	memset(buf_reserve(&zeros, 100), 0, 100);
	zeros.len = 100;
	ck_assert_uint_eq(stream(&zeros, 1, false), 0);
	ck_assert_uint_eq(stream(&zeros, 1, true), 0);

	make_dump(&more);
	ck_assert_uint_eq(stream(&more, 1, true), 0);
	buf_addc(&more, 'x');
	ck_assert_uint_eq(stream(&more, 1, false), more.len - 1);

	add_header(&hole);
	add_record(&hole, 0x01, 300);
	buf_add(&hole, zeros.data, 100);
	ck_assert_uint_eq(stream(&hole, 1, false), HPROF_READ + 9 + 300);

	buf_add(&gz, "\x1f\x8b\x08whatever", 11);
	ck_assert_uint_eq(stream(&gz, 1, true), gz.len);
	ck_assert_uint_eq(stream(&gz, 1, false), 0);
	gz.data[1] = 0;
	ck_assert_uint_eq(stream(&gz, 1, true), 1);
}
END_TEST

START_TEST(gzip_is_recognised_by_its_magic)
{
	ck_assert(hprof_is_gzip((const uint8_t *)"\x1f\x8b\x08", 3));
	ck_assert(!hprof_is_gzip((const uint8_t *)"\x1f", 1));
	ck_assert(!hprof_is_gzip((const uint8_t *)"JAVA", 4));
	ck_assert(!hprof_is_gzip((const uint8_t *)"", 0));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/hprof/hprof_check");
	TCase *tc = tcase_create("model/hprof/hprof_check");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, replies_are_classified, 0, ARRAY_SIZE(answers));
	tcase_add_test(tc, features_are_read_from_the_help_text);
	tcase_add_test(tc, complete_dump_is_accepted);
	tcase_add_test(tc, truncated_dump_is_rejected);
	tcase_add_test(tc, damaged_dump_is_rejected);
	tcase_add_test(tc, records_without_a_tag_are_rejected);
	tcase_add_test(tc, stream_is_accepted_in_pieces_of_any_size);
	tcase_add_test(tc, stream_is_complete_only_at_its_end);
	tcase_add_test(tc, stream_is_refused_at_the_first_wrong_byte);
	tcase_add_test(tc, gzip_is_recognised_by_its_magic);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
