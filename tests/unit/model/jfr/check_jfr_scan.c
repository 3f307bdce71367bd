/* The summary of a flight recording: how many events of each type it has. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_scan.h"
#include "unit/support/jfr_writer.h"

static const struct jfr_type_count *find(const struct jfr_summary *s, const char *name)
{
	const struct jfr_type_count *found = NULL;

	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->types[i].name, name) != 0)
			continue;
		ck_assert_ptr_null(found);
		found = &s->types[i];
	}
	ck_assert_msg(found, "%s is missing", name);
	return found;
}

static struct jfr_summary read_summary(struct jfr_writer *w)
{
	struct jfr_reader *r = jfr_reader_new(w_read, &w->file, w->file.len, 0);
	struct err err = { .code = EXIT_DONE };
	struct jfr_summary s;

	ck_assert_msg(jfr_summary_read(r, INT64_MIN, &s, &err) == 0, "%s", err.text);
	jfr_reader_free(r);
	return s;
}

START_TEST(events_are_counted_by_type_over_chunks)
{
	static const char unknown[] = "5 (missing event metadata)";
	const struct buf nothing = BUF_INIT;
	struct jfr_writer w = { .major = 2 };
	struct jfr_summary s;
	size_t at;

	w_chunk(&w);
	at = w.file.len;
	w_chunk(&w);
	w_event(&w, 5, &nothing);
	w_event(&w, 5, &nothing);
	w_patch(&w, 8, w.file.len - at, 8);
	s = read_summary(&w);
	ck_assert_uint_eq(s.n, 5);
	ck_assert_uint_eq(s.chunks, 2);
	ck_assert_uint_eq(find(&s, "jdk.Metadata")->count, 2);
	ck_assert_uint_eq(find(&s, "jdk.Checkpoint")->count, 4);
	ck_assert_uint_eq(find(&s, "jdk.ExecutionSample")->count, 4);
	ck_assert_str_eq(find(&s, "jdk.ExecutionSample")->label, "Method Profiling Sample");
	ck_assert_uint_eq(find(&s, "test.Everything")->count, 2);
	ck_assert_uint_eq(find(&s, unknown)->count, 2);
	ck_assert_uint_eq(find(&s, unknown)->bytes, 10);
	jfr_summary_release(&s);
	w_release(&w);
}
END_TEST

#define UNKNOWN 150000
#define REPEATED 1000

/* A search in all rows for each event takes longer than the test may. */
START_TEST(more_types_than_rows_are_counted_in_one_row)
{
	const struct buf nothing = BUF_INIT;
	struct jfr_writer w = { .major = 2 };
	struct jfr_summary s;
	uint64_t counted = 0;

	w_chunk(&w);
	for (int64_t i = 0; i < UNKNOWN; i++)
		w_event(&w, 1000 + i, &nothing);
	for (int64_t i = 0; i < REPEATED; i++)
		w_event(&w, 1000, &nothing);
	w_patch(&w, 8, w.file.len, 8);
	s = read_summary(&w);
	ck_assert_uint_eq(find(&s, "jdk.Metadata")->count, 1);
	ck_assert_uint_eq(find(&s, "1000 (missing event metadata)")->count, REPEATED + 1);
	ck_assert_uint_eq(s.n, 100001);
	ck_assert_str_eq(s.types[0].name, JFR_OTHER_TYPES);
	for (size_t i = 0; i < s.n; i++)
		counted += s.types[i].count;
	ck_assert_uint_eq(counted, UNKNOWN + REPEATED + 6);
	jfr_summary_release(&s);
	w_release(&w);
}
END_TEST

#define NAME_LEN (12u << 20)

static char *long_name;

static void type_with_long_name(struct jfr_writer *w)
{
	w_begin_types(w, 1);
	ELEMENT(w, "class", 1, "name", long_name, "id", "100", "superType", "jdk.jfr.Event");
	w_start_fields(w);
	w_end_types(w);
}

START_TEST(names_have_a_limit)
{
	struct jfr_writer w = { .major = 2, .types = type_with_long_name };
	struct jfr_summary s;

	long_name = xcalloc(1, NAME_LEN + 1);
	memset(long_name, 'x', NAME_LEN);
	for (char c = 'a'; c < 'e'; c++) {
		size_t metadata, constants;

		*long_name = c;
		w_begin_chunk(&w);
		metadata = w_metadata(&w);
		constants = w_constants(&w);
		w_sample(&w, 2000, 0);
		w_end_chunk(&w, metadata, constants);
	}
	s = read_summary(&w);
	ck_assert_uint_eq(s.n, 5); /* two names fit */
	ck_assert_uint_eq(find(&s, JFR_OTHER_TYPES)->count, 2);
	jfr_summary_release(&s);
	w_release(&w);
	free(long_name);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/jfr_scan");
	TCase *t = tcase_create("model/jfr/jfr_scan");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, events_are_counted_by_type_over_chunks);
	tcase_add_test(t, more_types_than_rows_are_counted_in_one_row);
	tcase_add_test(t, names_have_a_limit);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
