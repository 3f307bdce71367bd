/* Events that no consumer needs are skipped; all others are found, whatever their size and type. */
#include <check.h>
#include <string.h>

#include "model/jfr/jfr_reader.h"
#include "unit/support/jfr_memory_ahead.h"
#include "unit/support/jfr_profile_writer.h"

#define EVENTS 20000
#define T_TWO_BYTES 300	   /* a declared type whose id has two bytes */
#define T_UNDECLARED 120
#define T_HIGH 5000	   /* an undeclared type whose id is not below JFR_LOW_IDS */
#define BLOCK 4000
#define TAIL_MAX 500

static struct jfr_writer w;
static struct memory_ahead ahead;
static struct {
	uint64_t at;
	int64_t type;
} events[EVENTS];

static void two_types(struct jfr_writer *out)
{
	w_begin_types(out, 2);
	ELEMENT(out, "class", 1, "name", "jdk.ExecutionSample", "id", "100", "superType",
		"jdk.jfr.Event");
	w_start_fields(out);
	ELEMENT(out, "class", 1, "name", "test.TwoBytes", "id", "300", "superType",
		"jdk.jfr.Event");
	w_start_fields(out);
	w_end_types(out);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Appends an event of `size` bytes, whose size takes as few bytes as possible. */
static void add_event(size_t i, int64_t type, uint32_t size)
{
	struct buf head = BUF_INIT;

	events[i].at = w.file.len;
	events[i].type = type;
	w_long(&w, &head, size);
	w_long(&w, &head, type);
	buf_add(&w.file, head.data, head.len);
	for (size_t k = head.len; k < size; k++)
		buf_addc(&w.file, (char)(k * 37 + i));
	buf_release(&head);
}

static void setup(void)
{
	static const int64_t types[] = { T_SAMPLE, T_TWO_BYTES, T_SAMPLE, T_UNDECLARED, T_HIGH };
	size_t metadata, constants;
	uint32_t state = 1;

	w = (struct jfr_writer){ .major = 2, .types = two_types };
	w_begin_chunk(&w);
	for (size_t i = 0; i < EVENTS; i++) {
		int64_t type = types[next_random(&state) % ARRAY_SIZE(types)];
		uint32_t size = 4 + next_random(&state) % 60;

		if (i % 50 == 0)
			size = 100 + next_random(&state) % 60;
		if (i % 500 == 0)
			size = 120 + next_random(&state) % 20000;
		if (i % 9000 == 8999)
			size = 300000; /* more than the window of the reader */
		if (i % 7 == 0 && type < 128 && size < 64)
			size = 2; /* nothing but size and id */
		add_event(i, type, size);
	}
	metadata = w_metadata(&w);
	constants = w_constants(&w);
	w_end_chunk(&w, metadata, constants);
	ahead = (struct memory_ahead){
		.file = (const uint8_t *)w.file.data, .block = BLOCK, .tail_max = TAIL_MAX
	};
}

static void teardown(void)
{
	w_release(&w);
}

static void start(void *arg, uint64_t at, uint64_t end)
{
	(void)arg;
	memory_ahead_start(&ahead, at, end);
}

static const uint8_t *next(void *arg, const uint8_t *tail, size_t tail_len, size_t *len)
{
	(void)arg;
	return memory_ahead_next(&ahead, tail, tail_len, len);
}

static bool may_be_skipped(const struct jfr_metadata *m, int64_t id, bool skips_others)
{
	const struct jfr_type *type = jfr_type_by_id(m, id);

	return type ? type->is_skipped : skips_others;
}

/*
 * The bits of _i: is T_SAMPLE skipped, is T_TWO_BYTES skipped, are undeclared types skipped, are
 * the events read ahead.
 */
START_TEST(wanted_events_are_found_and_skipped_ones_counted)
{
	const struct jfr_ahead functions = { .start = start, .next = next };
	struct jfr_reader *r = jfr_reader_new(w_read, &w.file, w.file.len, 0);
	const struct jfr_metadata *m;
	struct err err = { .code = EXIT_DONE };
	uint64_t skippable = 0, returned = 0;
	struct jfr_event e;
	size_t i = 0;

	jfr_skip_others(r, _i & 4);
	if (_i & 8)
		jfr_read_ahead(r, &functions);
	ck_assert_int_eq(jfr_next_chunk(r, &err), 1);
	m = &jfr_chunk_of(r)->metadata;
	jfr_type_by_id(m, T_SAMPLE)->is_skipped = _i & 1;
	jfr_type_by_id(m, T_TWO_BYTES)->is_skipped = _i & 2;
	for (size_t k = 0; k < EVENTS; k++)
		skippable += jfr_type_by_id(m, events[k].type) &&
			     may_be_skipped(m, events[k].type, false);
	while (jfr_next_event(r, &e)) {
		if (e.type_id < 2)
			continue; /* metadata and constants */
		while (i < EVENTS && events[i].at < e.at) {
			ck_assert(may_be_skipped(m, events[i].type, _i & 4));
			i++;
		}
		ck_assert_uint_lt(i, EVENTS);
		ck_assert_uint_eq(events[i].at, e.at);
		ck_assert_int_eq(events[i].type, e.type_id);
		returned += e.type && e.type->is_skipped;
		i++;
	}
	for (; i < EVENTS; i++)
		ck_assert(may_be_skipped(m, events[i].type, _i & 4));
	ck_assert_str_eq(jfr_problems(r), "");
	ck_assert_uint_eq(jfr_skipped_events(r) + returned, skippable);
	ck_assert_uint_le(returned, skippable / 5); /* most are skipped */
	jfr_reader_free(r);
	memory_ahead_release(&ahead);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/skip");
	TCase *t = tcase_create("model/jfr/skip");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, wanted_events_are_found_and_skipped_ones_counted, 0, 16);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
