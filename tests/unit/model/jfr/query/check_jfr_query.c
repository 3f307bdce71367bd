/* Queries on flight recordings: each aggregate, groups, conditions, the order of rows. */
#include <check.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/query/jfr_query.h"
#include "unit/support/jfr_writer.h"

enum { T_VALUE = 200 };

static void value_types(struct jfr_writer *w)
{
	w_begin_types(w, 1);
	ELEMENT(w, "class", 7, "name", "test.Value", "id", "200", "superType", "jdk.jfr.Event");
	ELEMENT(w, "annotation", 0, "class", "39", "value", "A Value");
	w_start_fields(w);
	ELEMENT(w, "field", 0, "name", "name", "class", "20");
	ELEMENT(w, "field", 0, "name", "n", "class", "22");
	ELEMENT(w, "field", 1, "name", "span", "class", "22");
	ELEMENT(w, "annotation", 0, "class", "36", "value", "NANOSECONDS");
	ELEMENT(w, "field", 0, "name", "real", "class", "28");
	ELEMENT(w, "field", 0, "name", "truth", "class", "23");
	w_end_types(w);
}

struct value {
	int64_t ticks;
	const char *name;
	int64_t n, span;
	uint64_t real; /* the bits of a double */
	bool truth;
};

#define NOT_A_NUMBER UINT64_C(0x7ff8000000000000)

static const struct value sample[] = {
	{ 2000, "b", 10, 100, UINT64_C(0x3ff8000000000000), true },  /* 1.5 */
	{ 4000, "a", 40, 401, UINT64_C(0xc004000000000000), false }, /* -2.5 */
	{ 3000, "a", 20, 200, NOT_A_NUMBER, true },
	{ 1500, "c", 30, 300, UINT64_C(0x4010000000000000), true },  /* 4 */
};

static void write_values(struct jfr_writer *w, const struct value *values, size_t n)
{
	size_t metadata;

	w_begin_chunk(w);
	metadata = w_metadata(w);
	for (size_t i = 0; i < n; i++) {
		struct buf b = BUF_INIT;

		w_long(w, &b, values[i].ticks);
		w_text(w, &b, values[i].name);
		w_long(w, &b, values[i].n);
		w_long(w, &b, values[i].span);
		w_raw(&b, values[i].real, 8);
		buf_addc(&b, values[i].truth);
		w_event(w, T_VALUE, &b);
		buf_release(&b);
	}
	w_end_chunk(w, metadata, w_constants(w));
}

/* One query and its result. */
struct asked {
	struct jfr_queries *queries;
	struct jfr_query_run *run;
};

static struct asked ask_file(const struct jfr_query *query, struct buf *file)
{
	struct asked a = { .queries = jfr_queries_new(0) };
	struct jfr_reader *r = jfr_reader_new(w_read, file, file->len, 0);
	struct err err = { .code = EXIT_DONE };

	a.run = jfr_queries_add(a.queries, query);
	ck_assert_int_eq(jfr_queries_run(a.queries, r, INT64_MIN, &err), 0);
	jfr_reader_free(r);
	return a;
}

static struct asked ask(const struct jfr_query *query, const struct value *values, size_t n)
{
	struct jfr_writer w = { .major = 2, .types = value_types };
	struct asked a;

	write_values(&w, values, n);
	a = ask_file(query, &w.file);
	w_release(&w);
	return a;
}

static const char *text_at(const struct asked *a, size_t row, size_t column)
{
	struct jfr_cell cell = jfr_query_cell(a->run, row, column);

	ck_assert_int_eq(cell.kind, JFR_CELL_TEXT);
	return jfr_query_text(a->run, &cell);
}

static int64_t integer_at(const struct asked *a, size_t row, size_t column)
{
	struct jfr_cell cell = jfr_query_cell(a->run, row, column);

	ck_assert_int_eq(cell.kind, JFR_CELL_INTEGER);
	return cell.integer;
}

/* What the aggregate of the column's values is, over all events. */
static const struct {
	struct jfr_query_column column;
	enum jfr_cell_kind kind;
	int64_t integer;
	double real;
	enum jfr_content content;
} aggregates[] = {
	{ { "v", "*", JFR_COUNT_OF, false }, JFR_CELL_INTEGER, 4, 0, JFR_PLAIN },
	{ { "v", "n", JFR_SUM_OF, false }, JFR_CELL_INTEGER, 100, 0, JFR_PLAIN },
	{ { "v", "n", JFR_ANY, false }, JFR_CELL_INTEGER, 40, 0, JFR_PLAIN },
	{ { "v", "n", JFR_FIRST, false }, JFR_CELL_INTEGER, 30, 0, JFR_PLAIN },
	{ { "v", "n", JFR_LAST, false }, JFR_CELL_INTEGER, 40, 0, JFR_PLAIN },
	{ { "v", "n", JFR_LEAST, false }, JFR_CELL_INTEGER, 10, 0, JFR_PLAIN },
	{ { "v", "n", JFR_GREATEST, false }, JFR_CELL_INTEGER, 40, 0, JFR_PLAIN },
	{ { "v", "n", JFR_MEAN, false }, JFR_CELL_REAL, 0, 25, JFR_PLAIN },
	{ { "v", "n", JFR_MEDIAN, false }, JFR_CELL_REAL, 0, 25, JFR_PLAIN },
	{ { "v", "n", JFR_P90, false }, JFR_CELL_REAL, 0, 40, JFR_PLAIN },
	{ { "v", "n", JFR_DIFFERENCE, false }, JFR_CELL_INTEGER, 10, 0, JFR_PLAIN },
	{ { "v", "name", JFR_UNIQUE, false }, JFR_CELL_INTEGER, 3, 0, JFR_PLAIN },
	{ { "v", "span", JFR_MEAN, false }, JFR_CELL_INTEGER, 250, 0, JFR_TIMESPAN_NS },
	{ { "v", "span", JFR_MEDIAN, false }, JFR_CELL_INTEGER, 250, 0, JFR_TIMESPAN_NS },
	/* What is not a number does not count. */
	{ { "v", "real", JFR_SUM_OF, false }, JFR_CELL_REAL, 0, 3, JFR_PLAIN },
	{ { "v", "real", JFR_MEDIAN, false }, JFR_CELL_REAL, 0, 1.5, JFR_PLAIN },
	{ { "v", "real", JFR_LEAST, false }, JFR_CELL_REAL, 0, -2.5, JFR_PLAIN },
	{ { "v", "real", JFR_GREATEST, false }, JFR_CELL_REAL, 0, 4, JFR_PLAIN },
	{ { "v", "real", JFR_DIFFERENCE, false }, JFR_CELL_REAL, 0, -6.5, JFR_PLAIN },
	/* Between two times is a time span. */
	{ { "v", "startTime", JFR_DIFFERENCE, false }, JFR_CELL_INTEGER, 2500, 0,
	  JFR_TIMESPAN_NS },
	{ { "v", "truth", JFR_LAST, false }, JFR_CELL_TRUTH, 0, 0, JFR_PLAIN },
	{ { "v", "missing", JFR_SUM_OF, false }, JFR_CELL_NONE, 0, 0, JFR_PLAIN },
};

START_TEST(each_aggregate_is_computed)
{
	const struct jfr_query query = {
		.name = "test", .is_form = true,
		.sources = &(struct jfr_query_source){ .event = "test.Value" }, .n_sources = 1,
		.columns = &aggregates[_i].column, .n_columns = 1,
	};
	struct asked a = ask(&query, sample, ARRAY_SIZE(sample));
	struct jfr_cell cell;

	ck_assert_uint_eq(jfr_query_rows(a.run), 1);
	ck_assert_uint_eq(jfr_query_events(a.run), 4);
	ck_assert(jfr_query_is_known(a.run));
	cell = jfr_query_cell(a.run, 0, 0);
	ck_assert_int_eq(cell.kind, aggregates[_i].kind);
	if (cell.kind == JFR_CELL_REAL)
		ck_assert_double_eq(cell.real, aggregates[_i].real);
	else if (cell.kind != JFR_CELL_NONE)
		ck_assert_int_eq(cell.integer, aggregates[_i].integer);
	if (cell.kind != JFR_CELL_TRUTH && cell.kind != JFR_CELL_NONE)
		ck_assert_int_eq(cell.content, aggregates[_i].content);
	jfr_queries_free(a.queries);
}
END_TEST

START_TEST(percentiles_are_interpolated)
{
	const struct jfr_query query = {
		.name = "test", .is_form = true,
		JFR_SOURCES({ .event = "test.Value" }),
		JFR_COLUMNS({ "median", "n", JFR_MEDIAN, false }, { "p90", "n", JFR_P90, false },
			    { "p95", "n", JFR_P95, false }, { "p99", "n", JFR_P99, false },
			    { "p999", "n", JFR_P999, false }),
	};
	static const double wanted[] = { 50, 90, 95, 99, 99 };
	struct value values[99];
	struct asked a;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) /* 1 to 99, in another order */
		values[i] = (struct value){ 2000, "", (int64_t)(i * 10 % 99 + 1), 0, 0, false };
	a = ask(&query, values, ARRAY_SIZE(values));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		ck_assert_double_eq_tol(jfr_query_cell(a.run, 0, i).real, wanted[i], 1e-9);
	jfr_queries_free(a.queries);
	a = ask(&query, values, 9);
	/* 1, 11, 21 to 81: the 90th percentile is at the last one. */
	ck_assert_double_eq_tol(jfr_query_cell(a.run, 0, 1).real, 81, 1e-9);
	jfr_queries_free(a.queries);
	a = ask(&query, values, 10);
	/* 91 follows, and at 9.9 lies 0.9 of the way from the 9th value to it. */
	ck_assert_double_eq_tol(jfr_query_cell(a.run, 0, 1).real, 90, 1e-9);
	jfr_queries_free(a.queries);
}
END_TEST

/* Sums, means and differences of numbers at the limits of 64 bits. */
START_TEST(numbers_do_not_overflow)
{
	const struct jfr_query query = {
		.name = "test", .is_form = true,
		JFR_SOURCES({ .event = "test.Value" }),
		JFR_COLUMNS({ "sum", "n", JFR_SUM_OF, false },
			    { "difference", "n", JFR_DIFFERENCE, false },
			    { "mean", "span", JFR_MEAN, false }),
	};
	static const struct value values[] = {
		{ 2000, "", -2, INT64_MAX - 1, 0, false },
		{ 3000, "", INT64_MAX, INT64_MAX - 1, 0, false },
		{ 1900, "", INT64_MAX, INT64_MAX - 1, 0, false },
	};
	struct asked a = ask(&query, values, 2);

	ck_assert_int_eq(jfr_query_cell(a.run, 0, 1).kind, JFR_CELL_NONE);
	ck_assert_int_eq(integer_at(&a, 0, 0), INT64_MAX - 2);
	ck_assert_int_eq(integer_at(&a, 0, 2), INT64_MAX);
	jfr_queries_free(a.queries);
	a = ask(&query, values, 3);
	ck_assert_int_eq(integer_at(&a, 0, 0), INT64_MAX);
	jfr_queries_free(a.queries);
}
END_TEST

START_TEST(groups_are_rows_in_the_required_order)
{
	struct jfr_query query = {
		.name = "test", .group = { "name" },
		JFR_SOURCES({ .event = "test.Value" }),
		JFR_COLUMNS({ "name", "name", JFR_ANY, false },
			    { "share", "*", JFR_COUNT_OF, true },
			    { "real", "real", JFR_LAST, false }),
	};
	static const struct {
		int order[2];
		const char *names;
	} orders[] = {
		{ { 1, 0 }, "abc" },
		{ { -1, 0 }, "cba" },
		{ { -2, 1 }, "abc" },
		{ { -2, -1 }, "acb" },
		{ { 2, 1 }, "bca" },
		{ { -3, 0 }, "cba" }, /* 4, 1.5 and, of a, -2.5 */
		{ { 3, 0 }, "abc" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct asked a;

		query.order[0] = orders[i].order[0];
		query.order[1] = orders[i].order[1];
		a = ask(&query, sample, ARRAY_SIZE(sample));
		ck_assert_uint_eq(jfr_query_rows(a.run), 3);
		for (size_t row = 0; row < 3; row++) {
			const char *name = text_at(&a, row, 0);

			ck_assert_int_eq(name[0], orders[i].names[row]);
			ck_assert_double_eq(jfr_query_cell(a.run, row, 1).real,
					    name[0] == 'a' ? 0.5 : 0.25);
		}
		jfr_queries_free(a.queries);
	}
}
END_TEST

START_TEST(rows_of_earlier_times_are_removed)
{
	const struct jfr_query query = {
		.name = "test", .group = { "name" },
		JFR_SOURCES({ .event = "test.Value" }),
		JFR_COLUMNS({ "name", "name", JFR_ANY, false }, { "n", "n", JFR_LATEST, false }),
	};
	struct asked a = ask(&query, sample, ARRAY_SIZE(sample));

	ck_assert_uint_eq(jfr_query_rows(a.run), 1);
	ck_assert_str_eq(text_at(&a, 0, 0), "a");
	ck_assert_int_eq(integer_at(&a, 0, 1), 40);
	jfr_queries_free(a.queries);
}
END_TEST

START_TEST(condition_selects_events)
{
	static const struct {
		const char *field, *value;
		uint64_t events;
	} conditions[] = {
		{ "name", "a", 2 },
		{ "name", "d", 0 },
		{ "truth", "true", 3 },
		{ "truth", "false", 1 },
		{ "n", "10", 0 }, /* only texts and truths */
		{ "missing", "a", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++) {
		const struct jfr_query query = {
			.name = "test", .is_form = true,
			JFR_SOURCES({ "test.Value", 0, conditions[i].field, conditions[i].value },
				    { .event = "test.Other" }),
			JFR_COLUMNS({ "count", "*", JFR_COUNT_OF, false }),
		};
		struct asked a = ask(&query, sample, ARRAY_SIZE(sample));

		ck_assert_uint_eq(jfr_query_events(a.run), conditions[i].events);
		jfr_queries_free(a.queries);
	}
}
END_TEST

START_TEST(type_that_the_recording_lacks_is_not_known)
{
	const struct jfr_query query = {
		.name = "test", .is_form = true, JFR_SOURCES({ .event = "test.Other" }),
		JFR_COLUMNS({ "count", "*", JFR_COUNT_OF, false }),
	};
	struct asked a = ask(&query, sample, ARRAY_SIZE(sample));

	ck_assert(!jfr_query_is_known(a.run));
	ck_assert_uint_eq(jfr_query_events(a.run), 0);
	jfr_queries_free(a.queries);
}
END_TEST

START_TEST(labels_and_top_frames_are_read)
{
	const struct jfr_query query = {
		.name = "test", .is_form = true,
		JFR_SOURCES({ .event = "jdk.ExecutionSample" }),
		JFR_COLUMNS({ "label", "eventType.label", JFR_ANY, false },
			    { "top", "stackTrace.topFrame", JFR_ANY, false },
			    { "not init", "stackTrace.topNotInitFrame", JFR_ANY, false },
			    { "application", "stackTrace.topApplicationFrame", JFR_ANY, false }),
	};
	struct jfr_writer w = { .major = 2 };
	struct asked a;

	w_chunk(&w);
	a = ask_file(&query, &w.file);
	ck_assert_str_eq(text_at(&a, 0, 0), "Method Profiling Sample");
	ck_assert_str_eq(text_at(&a, 0, 1), "a.b.C.run(int, String[])");
	ck_assert_str_eq(text_at(&a, 0, 2), "a.b.C.run(int, String[])");
	/* The sample's classes have no loaders. */
	ck_assert_int_eq(jfr_query_cell(a.run, 0, 3).kind, JFR_CELL_NONE);
	jfr_queries_free(a.queries);
	w_release(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/query/jfr_query");
	TCase *t = tcase_create("model/jfr/query/jfr_query");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_loop_test(t, each_aggregate_is_computed, 0, ARRAY_SIZE(aggregates));
	tcase_add_test(t, percentiles_are_interpolated);
	tcase_add_test(t, numbers_do_not_overflow);
	tcase_add_test(t, groups_are_rows_in_the_required_order);
	tcase_add_test(t, rows_of_earlier_times_are_removed);
	tcase_add_test(t, condition_selects_events);
	tcase_add_test(t, type_that_the_recording_lacks_is_not_known);
	tcase_add_test(t, labels_and_top_frames_are_read);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
