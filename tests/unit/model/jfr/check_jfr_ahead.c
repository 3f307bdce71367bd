/* A reader whose events are read ahead finds the same events as one that reads them itself. */
#include <check.h>
#include <string.h>

#include "model/jfr/jfr_reader.h"
#include "render/jfr/jfr_event_json.h"
#include "unit/support/jfr_memory_ahead.h"
#include "unit/support/jfr_profile_writer.h"

#define CHUNKS 4
#define TAIL_MAX 600

static struct jfr_writer w;
static struct memory_ahead ahead;

static void start(void *arg, uint64_t at, uint64_t end)
{
	(void)arg;
	ck_assert_uint_le(at, end);
	ck_assert_uint_le(end, w.file.len);
	memory_ahead_start(&ahead, at, end);
}

static const uint8_t *next(void *arg, const uint8_t *tail, size_t tail_len, size_t *len)
{
	(void)arg;
	return memory_ahead_next(&ahead, tail, tail_len, len);
}

/* Returns the JSON of all events, and "BROKEN" if a problem was noted. */
static struct buf read_all(bool is_ahead)
{
	const struct jfr_ahead functions = { .start = start, .next = next };
	struct jfr_reader *r = jfr_reader_new(w_read, &w.file, w.file.len, 64u << 20);
	struct err err = { .code = EXIT_DONE };
	struct buf json = BUF_INIT;
	struct jfr_event e;
	int rc;

	if (is_ahead)
		jfr_read_ahead(r, &functions);
	while ((rc = jfr_next_chunk(r, &err)) > 0) {
		while (jfr_next_event(r, &e)) {
			struct json *object = json_object();

			if (e.type && e.type->is_event)
				jfr_event_put(&e, object);
			json_add(&json, object);
			json_free(object);
			buf_addf(&json, " %llu\n", (unsigned long long)e.at);
		}
	}
	ck_assert_int_eq(rc, 0);
	buf_adds(&json, jfr_problems(r)[0] ? "BROKEN" : "whole");
	jfr_reader_free(r);
	memory_ahead_release(&ahead);
	return json;
}

static void check_same(const char *expected)
{
	struct buf json;

	ahead.given = 0;
	json = read_all(true);
	ck_assert_str_eq(buf_str(&json), expected);
	buf_release(&json);
}

static void setup(void)
{
	w = (struct jfr_writer){ .major = 2 };
	for (unsigned i = 0; i < CHUNKS; i++)
		w_chunk(&w);
	ahead = (struct memory_ahead){
		.file = (const uint8_t *)w.file.data, .tail_max = TAIL_MAX
	};
}

static void teardown(void)
{
	w_release(&w);
}

START_TEST(events_are_the_same_with_every_size_of_block)
{
	struct buf expected = read_all(false);

	ck_assert_ptr_nonnull(strstr(buf_str(&expected), "whole"));
	for (ahead.block = 1; ahead.block <= 700; ahead.block++) {
		ahead.starts = 0;
		check_same(buf_str(&expected));
		ck_assert_uint_eq(ahead.starts, CHUNKS);
		ck_assert_uint_gt(ahead.given, 0);
	}
	buf_release(&expected);
}
END_TEST

START_TEST(events_are_the_same_if_blocks_are_missing)
{
	struct buf expected = read_all(false);

	for (ahead.block = 1; ahead.block <= 700; ahead.block += 9) {
		for (ahead.refuse = 1; ahead.refuse < 12; ahead.refuse++)
			check_same(buf_str(&expected));
	}
	buf_release(&expected);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/ahead");
	TCase *t = tcase_create("model/jfr/ahead");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, events_are_the_same_with_every_size_of_block);
	tcase_add_test(t, events_are_the_same_if_blocks_are_missing);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
