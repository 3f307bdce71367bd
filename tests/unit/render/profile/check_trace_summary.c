#include <check.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/trace_summary.h"
#include "trace_made.h"

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

/* n calls of a method, each as long as the others. */
static void called(uint32_t method, uint64_t n, uint64_t ns)
{
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, method, n, n / 4, (const uint64_t[]){ n * ns, ns, ns }, 1);
	wire_put_u32(&p.w, sums_bucket(ns));
	wire_put_u64(&p.w, n);
	ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_SUMS, &p, p.w.len, NULL, NULL), 0);
}

START_TEST(longest_first)
{
	called(0, 4, 812);
	called(1, 1, 31000000);
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

START_TEST(objects)
{
	called(1, 4, 7);
	trace_summary_add_json(&out, &trace);
	ck_assert_str_eq(
		buf_str(&out),
		"{\"method\":\"C.slow\",\"count\":4,\"errors\":1,\"min\":7,\"mean\":7,\"p50\":7,"
		"\"p95\":7,\"p99\":7,\"max\":7,\"total\":28}\n"
		"{\"method\":\"a.b.Shop.order\",\"count\":0,\"errors\":0,\"min\":null,"
		"\"mean\":null,\"p50\":null,\"p95\":null,\"p99\":null,\"max\":null,\"total\":0}\n"
		"{\"method\":\"C.idle\",\"count\":0,\"errors\":0,\"min\":null,"
		"\"mean\":null,\"p50\":null,\"p95\":null,\"p99\":null,\"max\":null,\"total\":0}\n");
}
END_TEST

START_TEST(without_buckets_quantiles_are_not_known)
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

/* A terminal that knows what we write.  Whatever goes out at the top is lost. */
#define ROWS_MAX 60
#define COLUMNS_MAX 200
struct screen {
	unsigned rows, columns, row, column;
	bool may_fold;
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

static const char *obey(struct screen *s, const char *at)
{
	char *end;
	unsigned n = (unsigned)strtoul(at, &end, 10);

	switch (*end) {
	case 'A':
		ck_assert_uint_gt(n, 0); /* which means 1 */
		ck_assert_uint_le(n, s->row); /* there is nothing above */
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
		ck_abort_msg("an escape sequence that no terminal was told of: %s", at);
	}
	return end + 1;
}

static void write_out(struct screen *s)
{
	for (const char *at = buf_str(&out); *at;) {
		if (strncmp(at, "\033[", 2) == 0) {
			at = obey(s, at + 2);
			continue;
		}
		if (*at == '\n') {
			next_line(s);
			s->column = 0;
		} else if (*at == '\r') {
			s->column = 0;
		} else {
			if (s->column == s->columns) {
				ck_assert(s->may_fold);
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
	write_out(s);
}

static void draw(struct screen *s)
{
	trace_summary_draw(&summary, &out, &trace, (struct terminal){ s->rows, s->columns });
	write_out(s);
}

static void end(struct screen *s)
{
	trace_summary_end(&summary, &out, &trace, (struct terminal){ s->rows, s->columns });
	write_out(s);
}

static void line_begins(const struct screen *s, unsigned row, const char *expected)
{
	ck_assert_msg(strncmp(s->cells[row], expected, strlen(expected)) == 0,
		      "line %u is '%s' instead of '%s'", row, s->cells[row], expected);
}

static void is_blank(const struct screen *s, unsigned row)
{
	ck_assert_uint_eq(strspn(s->cells[row], " "), s->columns);
}

START_TEST(drawn_in_place)
{
	struct screen s;

	open_screen(&s, 10, 100);
	type(&s, "$ jtool trace\n");
	for (uint64_t i = 0; i < 30; i++) {
		called(1, 1, 1000 + i);
		draw(&s);
	}
	line_begins(&s, 0, "$ jtool trace");
	line_begins(&s, 1, "METHOD  COUNT");
	line_begins(&s, 2, "C.slow     30");
	line_begins(&s, 3, "2 methods were not called");
	line_begins(&s, 4, "30 calls ");
	is_blank(&s, 5);
	called(0, 1, 1);
	called(2, 1, 2);
	draw(&s);
	line_begins(&s, 3, "C.idle  ");
	line_begins(&s, 4, "a.b.Shop.order  ");
	line_begins(&s, 5, "32 calls ");
	end(&s);
	line_begins(&s, 0, "$ jtool trace");
	line_begins(&s, 1, "METHOD          COUNT");
	line_begins(&s, 5, "32 calls ");
	is_blank(&s, 6);
	ck_assert_uint_eq(s.row, 6);
}
END_TEST

/* Also from the last line on, and when there is less than there was. */
START_TEST(drawn_at_the_bottom)
{
	struct screen s;

	open_screen(&s, 8, 100);
	for (int i = 0; i < 20; i++)
		type(&s, "before\n");
	for (int i = 0; i < 3; i++)
		draw(&s);
	line_begins(&s, 3, "before");
	line_begins(&s, 4, "METHOD");
	line_begins(&s, 6, "0 calls");
	for (int i = 0; i < 3; i++) {
		free(trace.methods[i].refused);
		trace.methods[i].refused = xstrdup("is not");
	}
	draw(&s);
	line_begins(&s, 3, "before");
	line_begins(&s, 5, "0 calls");
	is_blank(&s, 6);
}
END_TEST

START_TEST(more_methods_than_lines)
{
	struct screen s;

	for (int i = 0; i < 50; i++) {
		_cleanup_free_ char *name = xasprintf("m%d", i);

		called(trace_add(&trace, "D", name, "()V"), 1, 1000000 - (unsigned)i);
	}
	open_screen(&s, 10, 100);
	type(&s, "$\n$\n$\n");
	for (int i = 0; i < 3; i++) {
		draw(&s);
		line_begins(&s, 0, "METHOD");
		line_begins(&s, 1, "D.m0 ");
		line_begins(&s, 5, "D.m4 ");
		line_begins(&s, 6, "45 more methods");
		line_begins(&s, 7, "3 methods were not called");
		line_begins(&s, 8, "50 calls");
		is_blank(&s, 9);
	}
	end(&s);
	line_begins(&s, 6, "D.m49");
	line_begins(&s, 8, "50 calls");
}
END_TEST

/* All fit, and there is no line to spare. */
START_TEST(as_many_methods_as_lines)
{
	struct screen s;

	called(0, 1, 1);
	called(1, 1, 2);
	called(2, 1, 3);
	open_screen(&s, 6, 100);
	draw(&s);
	draw(&s);
	line_begins(&s, 0, "METHOD");
	line_begins(&s, 3, "a.b.Shop.order");
	line_begins(&s, 4, "3 calls");
	is_blank(&s, 5);
}
END_TEST

START_TEST(names_make_room_for_figures)
{
	struct screen s;

	called(trace_add(&trace, "com.acme.shop.services.internal.Ordering", "orderAll", "()V"),
	       1, 5000000);
	open_screen(&s, 10, 100);
	draw(&s);
	draw(&s);
	line_begins(&s, 1, "....internal.Ordering.orderAll ");
	ck_assert_str_eq(s.cells[1] + 99 - strlen("5.00 ms"), "5.00 ms ");
	s.may_fold = true;
	end(&s);
	line_begins(&s, 2, "com.acme.shop.services.internal.Ordering.orderAll      1");
	line_begins(&s, 5, "1 call ");
}
END_TEST

static void narrow(unsigned columns, const char *expected)
{
	struct screen s;

	open_screen(&s, 10, columns);
	summary.n = 0;
	draw(&s);
	line_begins(&s, 1, expected);
	ck_assert_int_eq(s.cells[1][strlen(expected)], ' ');
}

START_TEST(types_make_room_before_names)
{
	called(trace_add(&trace, "a.Shop", "order", "(ILjava/lang/String;[La/b/Tea;)V"), 1,
	       5000000);
	(void)trace_add(&trace, "a.Shop", "order", "()V");
	narrow(120, "a.Shop.order(int, java.lang.String, a.b.Tea[])");
	narrow(110, "a.Shop.order(int, String, Tea[])");
	narrow(100, "a.Shop.order(int, String, T...");
	narrow(80, "a.Shop.order(int...");
}
END_TEST

START_TEST(figures_that_matter_stay)
{
	struct screen s;

	called(0, 4000000, 812345678);
	open_screen(&s, 10, 80);
	draw(&s);
	line_begins(&s, 0,
		    "METHOD            COUNT   ERRORS    MEAN     P50     P95     P99     MAX");
	summary.n = 0;
	open_screen(&s, 10, 60);
	draw(&s);
	line_begins(&s, 0, "METHOD            COUNT   ERRORS    MEAN     P95     MAX");
	line_begins(&s, 1, "a.b.Shop.order  4000000  1000000  812 ms  812 ms  812 ms");
}
END_TEST

/* Whatever its size, what stands above stays there. */
START_TEST(terminals_of_any_size)
{
	struct screen s;
	unsigned rows = 1 + (unsigned)_i % 12, columns = 1 + (unsigned)_i / 12 * 7;

	called(0, 1, 1);
	called(1, 1, 2);
	open_screen(&s, rows, columns);
	for (int i = 0; i < 4; i++) {
		draw(&s);
		if (rows > 1 && columns > 8)
			line_begins(&s, 0, "METHOD ");
		ck_assert_uint_lt(s.row, rows);
	}
}
END_TEST

/* A terminal folds what has become too wide for it: the lines above are more then. */
START_TEST(terminals_become_narrow)
{
	struct screen s;

	called(1, 1, 7);
	open_screen(&s, 20, 100);
	draw(&s);
	/* The heading and the row had 58 characters, the others less than 30. */
	trace_summary_draw(&summary, &out, &trace, (struct terminal){ 20, 30 });
	ck_assert_msg(strncmp(buf_str(&out), "\033[6A\r", 5) == 0, "%s", buf_str(&out));
	buf_reset(&out);
	/* They were cut to 29 now. */
	trace_summary_draw(&summary, &out, &trace, (struct terminal){ 20, 100 });
	ck_assert_msg(strncmp(buf_str(&out), "\033[4A\r", 5) == 0, "%s", buf_str(&out));
	buf_reset(&out);
	trace_summary_draw(&summary, &out, &trace, (struct terminal){ 3, 10 });
	ck_assert_msg(strncmp(buf_str(&out), "\033[2A\r", 5) == 0, "%s", buf_str(&out));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace_summary");
	TCase *c = tcase_create("trace_summary");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, longest_first);
	tcase_add_test(c, objects);
	tcase_add_test(c, without_buckets_quantiles_are_not_known);
	tcase_add_test(c, drawn_in_place);
	tcase_add_test(c, drawn_at_the_bottom);
	tcase_add_test(c, more_methods_than_lines);
	tcase_add_test(c, as_many_methods_as_lines);
	tcase_add_test(c, names_make_room_for_figures);
	tcase_add_test(c, types_make_room_before_names);
	tcase_add_test(c, figures_that_matter_stay);
	tcase_add_loop_test(c, terminals_of_any_size, 0, 120);
	tcase_add_test(c, terminals_become_narrow);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
