#include <check.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/profile/trace_summary.h"
#include "unit/support/sample_trace.h"

static struct trace trace;
static struct trace_summary summary;
static struct buf out;

static void setup(void)
{
	trace = (struct trace){ 0 };
	summary = (struct trace_summary){ 0 };
	out = (struct buf)BUF_INIT;
	(void)trace_add(&trace, "a.b.Shop", "order", "()V");
	(void)trace_add(&trace, "C", "slow", "()V");
	(void)trace_add(&trace, "C", "idle", "()V");
	(void)trace_add(&trace, "C", "natives", "()V");
	trace.methods[3].refused = xstrdup("is native or abstract");
}

static void teardown(void)
{
	trace_release(&trace);
	buf_release(&out);
	free(summary.widths);
}

/* Adds n calls of a method, each of which takes `ns`. */
static void add_calls(uint32_t method, uint64_t n, uint64_t ns)
{
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, method, n, n / 4, (const uint64_t[]){ n * ns, ns, ns }, 1);
	wire_put_u32(&p.w, log_histogram_bucket(ns));
	wire_put_u64(&p.w, n);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_SUMS, &p, p.w.len, NULL, NULL), 0);
}

START_TEST(methods_are_sorted_by_total_time)
{
	add_calls(0, 4, 812);
	add_calls(1, 1, 31000000);
	trace_summary_add(&out, &trace);
	ck_assert_str_eq(
		buf_str(&out),
		"METHOD          COUNT  ERRORS      MIN     MEAN      P50      P95      P99      "
		"MAX\n"
		"C.slow              1       0  31.0 ms  31.0 ms  31.0 ms  31.0 ms  31.0 ms  "
		"31.0 ms\n"
		"a.b.Shop.order      4       1   812 ns   812 ns   812 ns   812 ns   812 ns   "
		"812 ns\n"
		"1 method was not called\n"
		"5 calls\n");
}
END_TEST

START_TEST(methods_are_printed_as_json)
{
	add_calls(1, 4, 7);
	trace_summary_add_json(&out, &trace);
	ck_assert_str_eq(
		buf_str(&out),
		"{\"schema\":1,"
		"\"method\":\"C.slow\",\"count\":4,\"errors\":1,\"min\":7,\"mean\":7,\"p50\":7,"
		"\"p95\":7,\"p99\":7,\"max\":7,\"total\":28}\n"
		"{\"schema\":1,\"method\":\"a.b.Shop.order\",\"count\":0,\"errors\":0,\"min\":null,"
		"\"mean\":null,\"p50\":null,\"p95\":null,\"p99\":null,\"max\":null,\"total\":0}\n"
		"{\"schema\":1,\"method\":\"C.idle\",\"count\":0,\"errors\":0,\"min\":null,"
		"\"mean\":null,\"p50\":null,\"p95\":null,\"p99\":null,\"max\":null,\"total\":0}\n");
}
END_TEST

START_TEST(quantiles_are_unknown_without_buckets)
{
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, 1, 2, 0, (const uint64_t[]){ 30, 10, 20 }, 0);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_SUMS, &p, p.w.len, NULL, NULL), 0);
	trace_summary_add(&out, &trace);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "C.slow      2       0  10 ns  15 ns    -    "
						    "-    -  20 ns\n"));
	buf_reset(&out);
	trace_summary_add_json(&out, &trace);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\"p50\":null,\"p95\":null,\"p99\":null,"
						    "\"max\":20"));
}
END_TEST

/* A terminal that executes the escape sequences of jtool.  Lines that scroll out are lost. */
#define ROWS_MAX 60
#define COLUMNS_MAX 200
struct screen {
	unsigned rows, columns, row, column;
	bool may_wrap;
	char cells[ROWS_MAX][COLUMNS_MAX + 1];
};

static void clear_from(struct screen *s, unsigned row, unsigned column)
{
	memset(s->cells[row] + column, ' ', s->columns - column);
	s->cells[row][s->columns] = '\0';
}

static void open_screen(struct screen *s, unsigned rows, unsigned columns)
{
	*s = (struct screen){ .rows = rows, .columns = columns };
	for (unsigned i = 0; i < rows; i++)
		clear_from(s, i, 0);
}

static void next_line(struct screen *s)
{
	if (++s->row < s->rows)
		return;
	s->row--;
	memmove(s->cells[0], s->cells[1], (s->rows - 1) * sizeof(s->cells[0]));
	clear_from(s, s->row, 0);
}

static const char *execute_escape(struct screen *s, const char *at)
{
	char *end;
	unsigned n = (unsigned)strtoul(at, &end, 10);

	switch (*end) {
	case 'A':
		ck_assert_uint_gt(n, 0); /* a terminal takes 0 for 1 */
		ck_assert_uint_le(n, s->row); /* not above the first row */
		s->row -= n;
		break;
	case 'K':
		clear_from(s, s->row, s->column);
		break;
	case 'J':
		clear_from(s, s->row, s->column);
		for (unsigned i = s->row + 1; i < s->rows; i++)
			clear_from(s, i, 0);
		break;
	default:
		ck_abort_msg("unknown escape sequence: %s", at);
	}
	return end + 1;
}

static void write_to_screen(struct screen *s)
{
	for (const char *at = buf_str(&out); *at;) {
		if (strncmp(at, "\033[", 2) == 0) {
			at = execute_escape(s, at + 2);
			continue;
		}
		if (*at == '\n') {
			next_line(s);
			s->column = 0;
		} else if (*at == '\r') {
			s->column = 0;
		} else {
			if (s->column == s->columns) {
				ck_assert(s->may_wrap);
				next_line(s);
				s->column = 0;
			}
			s->cells[s->row][s->column++] = *at;
		}
		at++;
	}
	buf_reset(&out);
}

static void type(struct screen *s, const char *text)
{
	buf_adds(&out, text);
	write_to_screen(s);
}

static void draw(struct screen *s)
{
	trace_summary_draw(&summary, &out, &trace, (struct terminal){ s->rows, s->columns });
	write_to_screen(s);
}

static void end(struct screen *s)
{
	trace_summary_end(&summary, &out, &trace, (struct terminal){ s->rows, s->columns });
	write_to_screen(s);
}

static void assert_line(const struct screen *s, unsigned row, const char *expected)
{
	ck_assert_msg(strncmp(s->cells[row], expected, strlen(expected)) == 0,
		      "line %u is '%s' instead of '%s'", row, s->cells[row], expected);
}

static void assert_blank(const struct screen *s, unsigned row)
{
	ck_assert_uint_eq(strspn(s->cells[row], " "), s->columns);
}

START_TEST(table_is_redrawn_in_place)
{
	struct screen s;

	open_screen(&s, 10, 100);
	type(&s, "$ jtool trace\n");
	for (uint64_t i = 0; i < 30; i++) {
		add_calls(1, 1, 1000 + i);
		draw(&s);
	}
	assert_line(&s, 0, "$ jtool trace");
	assert_line(&s, 1, "METHOD  COUNT");
	assert_line(&s, 2, "C.slow     30");
	assert_line(&s, 3, "2 methods were not called");
	assert_line(&s, 4, "30 calls ");
	assert_blank(&s, 5);
	add_calls(0, 1, 1);
	add_calls(2, 1, 2);
	draw(&s);
	assert_line(&s, 3, "C.idle  ");
	assert_line(&s, 4, "a.b.Shop.order  ");
	assert_line(&s, 5, "32 calls ");
	end(&s);
	assert_line(&s, 0, "$ jtool trace");
	assert_line(&s, 1, "METHOD          COUNT");
	assert_line(&s, 5, "32 calls ");
	assert_blank(&s, 6);
	ck_assert_uint_eq(s.row, 6);
}
END_TEST

/* The table starts on the last line; later it has fewer rows. */
START_TEST(table_is_redrawn_at_the_bottom_of_the_screen)
{
	struct screen s;

	open_screen(&s, 8, 100);
	for (int i = 0; i < 20; i++)
		type(&s, "before\n");
	for (int i = 0; i < 3; i++)
		draw(&s);
	assert_line(&s, 3, "before");
	assert_line(&s, 4, "METHOD");
	assert_line(&s, 6, "0 calls");
	for (int i = 0; i < 3; i++) {
		free(trace.methods[i].refused);
		trace.methods[i].refused = xstrdup("is not");
	}
	draw(&s);
	assert_line(&s, 3, "before");
	assert_line(&s, 5, "0 calls");
	assert_blank(&s, 6);
}
END_TEST

START_TEST(excess_methods_are_counted)
{
	struct screen s;

	for (int i = 0; i < 50; i++) {
		_cleanup_free_ char *name = xasprintf("m%d", i);

		add_calls(trace_add(&trace, "D", name, "()V"), 1, 1000000 - (unsigned)i);
	}
	open_screen(&s, 10, 100);
	type(&s, "$\n$\n$\n");
	for (int i = 0; i < 3; i++) {
		draw(&s);
		assert_line(&s, 0, "METHOD");
		assert_line(&s, 1, "D.m0 ");
		assert_line(&s, 5, "D.m4 ");
		assert_line(&s, 6, "45 more methods");
		assert_line(&s, 7, "3 methods were not called");
		assert_line(&s, 8, "50 calls");
		assert_blank(&s, 9);
	}
	end(&s);
	assert_line(&s, 6, "D.m49");
	assert_line(&s, 8, "50 calls");
}
END_TEST

/* The table and the total fill the terminal, except the cursor's line. */
START_TEST(exactly_fitting_table_is_redrawn_in_place)
{
	struct screen s;

	add_calls(0, 1, 1);
	add_calls(1, 1, 2);
	add_calls(2, 1, 3);
	open_screen(&s, 6, 100);
	draw(&s);
	draw(&s);
	assert_line(&s, 0, "METHOD");
	assert_line(&s, 3, "a.b.Shop.order");
	assert_line(&s, 4, "3 calls");
	assert_blank(&s, 5);
}
END_TEST

START_TEST(long_names_are_truncated_to_keep_the_values)
{
	struct screen s;

	add_calls(trace_add(&trace, "com.acme.shop.services.internal.Ordering", "orderAll", "()V"),
		  1, 5000000);
	open_screen(&s, 10, 100);
	draw(&s);
	draw(&s);
	assert_line(&s, 1, "....internal.Ordering.orderAll ");
	ck_assert_str_eq(s.cells[1] + 99 - strlen("5.00 ms"), "5.00 ms ");
	s.may_wrap = true;
	end(&s);
	assert_line(&s, 2, "com.acme.shop.services.internal.Ordering.orderAll      1");
	assert_line(&s, 5, "1 call ");
}
END_TEST

static void assert_at_width(unsigned columns, const char *expected)
{
	struct screen s;

	open_screen(&s, 10, columns);
	summary.n = 0;
	draw(&s);
	assert_line(&s, 1, expected);
	ck_assert_int_eq(s.cells[1][strlen(expected)], ' ');
}

START_TEST(parameter_types_are_shortened_before_names)
{
	add_calls(trace_add(&trace, "a.Shop", "order", "(ILjava/lang/String;[La/b/Tea;)V"), 1,
		  5000000);
	(void)trace_add(&trace, "a.Shop", "order", "()V");
	assert_at_width(120, "a.Shop.order(int, java.lang.String, a.b.Tea[])");
	assert_at_width(110, "a.Shop.order(int, String, Tea[])");
	assert_at_width(100, "a.Shop.order(int, String, T...");
	assert_at_width(80, "a.Shop.order(int...");
}
END_TEST

START_TEST(narrow_terminal_omits_minor_columns)
{
	struct screen s;

	add_calls(0, 4000000, 812345678);
	open_screen(&s, 10, 80);
	draw(&s);
	assert_line(&s, 0,
		    "METHOD            COUNT   ERRORS    MEAN     P50     P95     P99     MAX");
	summary.n = 0;
	open_screen(&s, 10, 60);
	draw(&s);
	assert_line(&s, 0, "METHOD            COUNT   ERRORS    MEAN     P95     MAX");
	assert_line(&s, 1, "a.b.Shop.order  4000000  1000000  812 ms  812 ms  812 ms");
}
END_TEST

/* However large the terminal is, the redrawn table starts in the same line as before. */
START_TEST(table_fits_terminals_of_any_size)
{
	struct screen s;
	unsigned rows = 1 + (unsigned)_i % 12, columns = 1 + (unsigned)_i / 12 * 7;

	add_calls(0, 1, 1);
	add_calls(1, 1, 2);
	open_screen(&s, rows, columns);
	for (int i = 0; i < 4; i++) {
		draw(&s);
		if (rows > 1 && columns > 8)
			assert_line(&s, 0, "METHOD ");
		ck_assert_uint_lt(s.row, rows);
	}
}
END_TEST

/* A narrowed terminal folds long lines, so the cursor must move up by more lines. */
START_TEST(folded_lines_are_counted_after_the_terminal_narrows)
{
	struct screen s;

	add_calls(1, 1, 7);
	open_screen(&s, 20, 100);
	draw(&s);
	/* The heading and the row had 58 characters each, the other lines less than 30. */
	trace_summary_draw(&summary, &out, &trace, (struct terminal){ 20, 30 });
	ck_assert_msg(strncmp(buf_str(&out), "\033[6A\r", 5) == 0, "%s", buf_str(&out));
	buf_reset(&out);
	/* The lines are now truncated to 29 characters. */
	trace_summary_draw(&summary, &out, &trace, (struct terminal){ 20, 100 });
	ck_assert_msg(strncmp(buf_str(&out), "\033[4A\r", 5) == 0, "%s", buf_str(&out));
	buf_reset(&out);
	trace_summary_draw(&summary, &out, &trace, (struct terminal){ 3, 10 });
	ck_assert_msg(strncmp(buf_str(&out), "\033[2A\r", 5) == 0, "%s", buf_str(&out));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/profile/trace_summary");
	TCase *c = tcase_create("render/profile/trace_summary");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, methods_are_sorted_by_total_time);
	tcase_add_test(c, methods_are_printed_as_json);
	tcase_add_test(c, quantiles_are_unknown_without_buckets);
	tcase_add_test(c, table_is_redrawn_in_place);
	tcase_add_test(c, table_is_redrawn_at_the_bottom_of_the_screen);
	tcase_add_test(c, excess_methods_are_counted);
	tcase_add_test(c, exactly_fitting_table_is_redrawn_in_place);
	tcase_add_test(c, long_names_are_truncated_to_keep_the_values);
	tcase_add_test(c, parameter_types_are_shortened_before_names);
	tcase_add_test(c, narrow_terminal_omits_minor_columns);
	tcase_add_loop_test(c, table_fits_terminals_of_any_size, 0, 120);
	tcase_add_test(c, folded_lines_are_counted_after_the_terminal_narrows);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
