/* Flight recordings: chunks of a file, diagnostic commands, their replies, and settings. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "model/jfr/jfr_chunks.h"
#include "model/jfr/jfr_settings.h"
#include "model/jfr/jfr_string.h"
#include "model/jfr/jfr_text.h"

struct bytes {
	const unsigned char *data;
	uint64_t len;
};

static int read_bytes(void *arg, uint64_t at, void *data, size_t len)
{
	const struct bytes *b = arg;

	ck_assert(at <= b->len && len <= b->len - at);
	memcpy(data, b->data + at, len);
	return 0;
}

static int64_t count(const unsigned char *data, uint64_t len)
{
	struct bytes b = { data, len };

	return jfr_chunks_count(read_bytes, &b, len);
}

static void put_chunk(unsigned char *at, uint64_t size)
{
	memcpy(at, "FLR\0\0\2\0\1", 8);
	for (int i = 0; i < 8; i++)
		at[8 + i] = (unsigned char)(size >> (56 - 8 * i));
}

START_TEST(recording_cut_inside_a_chunk_is_rejected)
{
	enum { FIRST = 100, SECOND = 68, LEN = FIRST + SECOND };
	unsigned char data[LEN] = { 0 };

	put_chunk(data, FIRST);
	put_chunk(data + FIRST, SECOND);
	for (uint64_t len = 0; len < LEN; len++) {
		if (len != FIRST)
			ck_assert_int_eq(count(data, len), -EBADMSG);
	}
	ck_assert_int_eq(count(data, FIRST), 1);
	ck_assert_int_eq(count(data, LEN), 2);
}
END_TEST

START_TEST(invalid_chunk_headers_are_rejected)
{
	static const uint64_t sizes[] = { 0, 1, 67, 101, UINT64_MAX, UINT64_C(1) << 63 };
	unsigned char data[100] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		put_chunk(data, sizes[i]);
		ck_assert_int_eq(count(data, sizeof(data)), -EBADMSG);
	}
	put_chunk(data, sizeof(data));
	ck_assert_int_eq(count(data, sizeof(data)), 1);
	data[3] = 1;
	ck_assert_int_eq(count(data, sizeof(data)), -EBADMSG);
}
END_TEST

/* A string in a recording: encoding, number of UTF-16 units, and each unit in two bytes. */
START_TEST(surrogates_without_partner_are_replaced)
{
	static const uint8_t data[] = {
		JFR_STRING_CHARS, 0, 0, 0, 5,
		0xd8, 0x3d, 0xde, 0, 0xde, 0, 0, 'a', 0xd8, 0,
	};
	struct jfr_cursor c = { .at = data, .end = data + sizeof(data) };
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct jfr_string s;

	jfr_string_read(&c, &s);
	ck_assert(!c.failed);
	jfr_string_add(&text, &s);
	ck_assert_str_eq(buf_str(&text), "\U0001f600\ufffda\ufffd");
}
END_TEST

static int read_nothing(void *arg, uint64_t at, void *data, size_t len)
{
	(void)arg, (void)at, (void)data, (void)len;
	return -EIO;
}

START_TEST(read_errors_are_returned)
{
	ck_assert_int_eq(jfr_chunks_count(read_nothing, NULL, 100), -EIO);
}
END_TEST

static const struct {
	const char *word, *line; /* line NULL: the word cannot be quoted */
} words[] = {
	{ "name=a", " name=a" },
	{ "bare", " bare" },
	{ "name=", " name=" },
	{ "name=x=y", " name=x=y" },
	{ "name=two words", " name=\"two words\"" },
	{ "name=\"two words\"", " name=\"two words\"" },
	{ "name='two words'", " name='two words'" },
	{ "name=it's", " name=\"it's\"" },
	{ "name=a \"b\" c", " name='a \"b\" c'" },
	{ "name=\"", " name='\"'" },
	{ "name=it's \"it\"", NULL },
	{ "name=ends with \\", NULL },
	{ "filename=C:\\x", " filename=C:\\x" },
	{ "name=a\nVM.exit", NULL },
	{ "jdk.ThreadSleep#threshold=20 ms", " jdk.ThreadSleep#threshold=\"20 ms\"" },
};

START_TEST(words_of_a_command_are_quoted)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	int rc = jfr_add_word(&line, words[_i].word);

	ck_assert_int_eq(rc, words[_i].line ? 0 : -EINVAL);
	ck_assert_str_eq(buf_str(&line), words[_i].line ? words[_i].line : "");
}
END_TEST

START_TEST(value_of_a_word_is_found_by_its_key)
{
	ck_assert_str_eq(jfr_value_of("name=x", "name"), "x");
	ck_assert_ptr_null(jfr_value_of("name", "name"));
	ck_assert_ptr_null(jfr_value_of("filename=x", "name"));
	ck_assert_ptr_null(jfr_value_of("nam=x", "name"));
}
END_TEST

static const struct {
	enum jfr_verb verb;
	bool done;
	const char *answer;
} answers[] = {
	{ JFR_START, true, "Started recording 1. No limit specified, using maxsize=250MB\n" },
	{ JFR_START, true, "Warning! The .jfc option/setting 'x' doesn't exist.\n"
			   "Started recording 1.\n" },
	{ JFR_START, true, "Recording 2 scheduled to start in 5 s. The result\n" },
	{ JFR_START, false, "Could not start recording, duration must be at least 1 second.\n" },
	{ JFR_START, false, "Could not parse settings file 'x'\n" },
	{ JFR_START, false, "Flight Recorder is disabled.\n\n" },
	{ JFR_START, false, "" },
	{ JFR_CHECK, true, "No available recordings.\n\nUse JFR.start to start a recording.\n" },
	{ JFR_CHECK, true, "Recording 1: name=a maxsize=250.0MB (running)\n" },
	{ JFR_CHECK, false, "Could not find nix.\n\nUse JFR.check without options\n" },
	{ JFR_DUMP, true, "Dumped recording, 718.0 kB written to:\n\n/tmp/x.jfr\n" },
	{ JFR_DUMP, false, "Dump failed. Could not copy recording data. /x\n" },
	{ JFR_DUMP, false, "No available recordings.\n" },
	{ JFR_STOP, true, "Stopped recording \"two words\".\n" },
	{ JFR_STOP, false, "Can't stop an already stopped recording.\n" },
	{ JFR_STOP, false, "" },
};

START_TEST(replies_are_classified_as_success_or_failure)
{
	ck_assert_int_eq(jfr_succeeded(answers[_i].verb, answers[_i].answer), answers[_i].done);
}
END_TEST

START_TEST(replies_are_reduced_to_one_short_line)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	char endless[5000];

	jfr_one_line(&line, "Could not find nix.\n\nUse JFR.check\r\n");
	ck_assert_str_eq(buf_str(&line), "Could not find nix. Use JFR.check");
	buf_reset(&line);
	jfr_one_line(&line, "x: syntax error\nx: syntax error\n\n"); /* JDK 11 repeats the line */
	ck_assert_str_eq(buf_str(&line), "x: syntax error");
	buf_reset(&line);
	memset(endless, 'x', sizeof(endless));
	endless[sizeof(endless) - 1] = '\0';
	jfr_one_line(&line, endless);
	ck_assert_uint_lt(line.len, 1000);
}
END_TEST

static const char listing_17[] =
	"Current configuration:\n\nRepository path: N/A\nStack depth: 64\nGlobal buffer count: 20\n"
	"Global buffer size: 512.0 kB\nThread buffer size: 8.0 kB\nMemory size: 10.0 MB\n"
	"Max chunk size: 12.0 MB\nSample threads: true\n";
static const char listing_27[] =
	"Current configuration:\n\nPreserve repository: false\n"
	"Repository path: /tmp/2026_11_20_15_05_05_16852\n\nDump path: /var/tmp\n\n"
	"Stack depth: 100\nGlobal buffer count: 16\nGlobal buffer size: 1.0 MB\n"
	"Thread buffer size: 16.0 kB\nMemory size: 16.0 MB\nMax chunk size: 2.0 MB\n";

static void check_shown(const struct jfr_settings *s, enum jfr_setting i, const char *expected)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	jfr_value_show(&text, jfr_setting_info[i].kind, &s->values[i]);
	ck_assert_msg(strcmp(buf_str(&text), expected) == 0, "%s: %s, not %s",
		      jfr_setting_info[i].key, buf_str(&text), expected);
}

START_TEST(settings_of_jdk_17_are_parsed)
{
	struct jfr_settings s = { .is_listing = false };

	jfr_settings_parse(&s, listing_17, strlen(listing_17));
	ck_assert(s.is_listing);
	ck_assert_uint_eq(s.words.len, 0);
	check_shown(&s, JFR_REPOSITORY_PATH, "-");
	check_shown(&s, JFR_DUMP_PATH, "-");
	check_shown(&s, JFR_PRESERVE_REPOSITORY, "-");
	check_shown(&s, JFR_STACK_DEPTH, "64");
	check_shown(&s, JFR_GLOBAL_BUFFER_SIZE, "512k");
	check_shown(&s, JFR_MEMORY_SIZE, "10m");
	check_shown(&s, JFR_SAMPLE_THREADS, "true");
	ck_assert_int_eq(s.values[JFR_THREAD_BUFFER_SIZE].number, 8192);
	jfr_settings_release(&s);
}
END_TEST

START_TEST(settings_of_jdk_27_are_parsed)
{
	struct jfr_settings s = { .is_listing = false };

	jfr_settings_parse(&s, listing_27, strlen(listing_27));
	ck_assert(s.is_listing);
	check_shown(&s, JFR_REPOSITORY_PATH, "/tmp/2026_11_20_15_05_05_16852");
	check_shown(&s, JFR_DUMP_PATH, "/var/tmp");
	check_shown(&s, JFR_PRESERVE_REPOSITORY, "false");
	check_shown(&s, JFR_GLOBAL_BUFFER_COUNT, "16");
	check_shown(&s, JFR_MAX_CHUNK_SIZE, "2m");
	check_shown(&s, JFR_SAMPLE_THREADS, "-");
	jfr_settings_release(&s);
}
END_TEST

/* A line that is not cut yields its complete value. */
START_TEST(settings_cut_at_every_byte_are_parsed)
{
	for (size_t len = 0; len < strlen(listing_27); len++) {
		struct jfr_settings s = { .is_listing = false };
		char *part = strndup(listing_27, len);

		jfr_settings_parse(&s, part, len);
		if (strstr(part, "Stack depth: 100\n"))
			check_shown(&s, JFR_STACK_DEPTH, "100");
		ck_assert_int_eq(s.values[JFR_MAX_CHUNK_SIZE].known &&
				 !strstr(part, "Max chunk size: 2"), 0);
		jfr_settings_release(&s);
		free(part);
	}
}
END_TEST

START_TEST(reply_to_set_settings_is_not_a_listing)
{
	static const char text[] = "Option samplethreads is deprecated.\n\nStack depth: 128\n";
	struct jfr_settings s = { .is_listing = false };

	jfr_settings_parse(&s, text, strlen(text));
	ck_assert(!s.is_listing);
	ck_assert_str_eq(buf_str(&s.words), "Option samplethreads is deprecated.\n");
	check_shown(&s, JFR_STACK_DEPTH, "128");
	jfr_settings_release(&s);
}
END_TEST

static const struct {
	const char *text;
	bool known;
	int64_t size;
	const char *shown;
} sizes[] = {
	{ "0", true, 0, "0" },
	{ "100 bytes", true, 100, "100" },
	{ "1 byte", true, 1, "1" },
	{ "512.0 kB", true, 512 * 1024, "512k" },
	{ "512,0 kB", true, 512 * 1024, "512k" },
	{ "0.5 MB", true, 512 * 1024, "512k" },
	{ "\u0665\u0661\u0662\u066b\u0660 kB", true, 512 * 1024, "512k" }, /* locale ar-EG */
	{ "\u06f1\u06f2\u066b\u06f0 MB", true, 12 * 1024 * 1024, "12m" }, /* locale fa */
	{ "\u0967\u0968.\u096b kB", true, 12800, "12800" }, /* locale mr */
	{ "\u0665\u0661\u0662\u066b kB", false, 0, "-" },
	{ "\xd9", false, 0, "-" },
	{ "976.6 kB", true, 1000038, "1000038" },
	{ "250.0MB", true, 250 * 1024 * 1024, "250m" },
	{ "4.0 TB", true, INT64_C(4) << 40, "4096g" },
	{ "7.9 EB", true, INT64_C(9108079886394091110), NULL },
	{ "8.0 EB", false, 0, "-" },
	{ "99999999999999999999", false, 0, "-" },
	{ "-1", false, 0, "-" },
	{ "x", false, 0, "-" },
	{ "1.0 zB", false, 0, "-" },
};

START_TEST(sizes_are_parsed_in_all_units_and_digits)
{
	struct jfr_settings s = { .is_listing = false };
	_cleanup_buf_ struct buf text = BUF_INIT;

	buf_addf(&text, "Memory size: %s", sizes[_i].text);
	jfr_settings_parse(&s, buf_str(&text), text.len);
	ck_assert_int_eq(s.values[JFR_MEMORY_SIZE].known, sizes[_i].known);
	if (sizes[_i].known)
		ck_assert_int_eq(s.values[JFR_MEMORY_SIZE].number, sizes[_i].size);
	if (sizes[_i].shown)
		check_shown(&s, JFR_MEMORY_SIZE, sizes[_i].shown);
	jfr_settings_release(&s);
}
END_TEST

START_TEST(settings_are_compared_and_found_by_key)
{
	char a[] = "/a", b[] = "/b";
	const struct jfr_value unknown = { .known = false }, one = { .known = true, .number = 1 },
			       two = { .known = true, .number = 2 },
			       at_a = { .known = true, .path = a },
			       at_b = { .known = true, .path = b };

	ck_assert(jfr_value_same(&unknown, &unknown));
	ck_assert(!jfr_value_same(&unknown, &one));
	ck_assert(jfr_value_same(&one, &one));
	ck_assert(!jfr_value_same(&one, &two));
	ck_assert(jfr_value_same(&at_a, &at_a));
	ck_assert(!jfr_value_same(&at_a, &at_b));
	ck_assert_int_eq(jfr_setting_find("memorysize=1m"), JFR_MEMORY_SIZE);
	ck_assert_int_eq(jfr_setting_find("memory"), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/jfr");
	TCase *t = tcase_create("model/jfr/jfr");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, recording_cut_inside_a_chunk_is_rejected);
	tcase_add_test(t, invalid_chunk_headers_are_rejected);
	tcase_add_test(t, read_errors_are_returned);
	tcase_add_test(t, surrogates_without_partner_are_replaced);
	tcase_add_loop_test(t, words_of_a_command_are_quoted, 0, ARRAY_SIZE(words));
	tcase_add_test(t, value_of_a_word_is_found_by_its_key);
	tcase_add_loop_test(t, replies_are_classified_as_success_or_failure, 0,
			    ARRAY_SIZE(answers));
	tcase_add_test(t, replies_are_reduced_to_one_short_line);
	tcase_add_test(t, settings_of_jdk_17_are_parsed);
	tcase_add_test(t, settings_of_jdk_27_are_parsed);
	tcase_add_test(t, settings_cut_at_every_byte_are_parsed);
	tcase_add_test(t, reply_to_set_settings_is_not_a_listing);
	tcase_add_loop_test(t, sizes_are_parsed_in_all_units_and_digits, 0, ARRAY_SIZE(sizes));
	tcase_add_test(t, settings_are_compared_and_found_by_key);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
