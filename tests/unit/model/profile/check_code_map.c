/* The map of compiled code: the agent's frames, names, overlaps and lines. */
#include <check.h>
#include <errno.h>

#include "base/xalloc.h"
#include "model/profile/code_map.h"
#include "unit/support/payload.h"

static struct code_map map;
static struct buf text;

static void setup(void)
{
	map = (struct code_map){ .n = 0 };
	text = (struct buf)BUF_INIT;
}

static void teardown(void)
{
	code_map_release(&map);
	buf_release(&text);
}

static void put_row(struct wire_writer *w, uint64_t address, uint32_t size, const char *class,
		    const char *name, const char *descriptor)
{
	wire_put_u64(w, address);
	wire_put_u32(w, size);
	put_text(w, class);
	put_text(w, name);
	put_text(w, descriptor);
}

/* Takes an exact copy of the first `len` bytes of a payload: ASan detects a read past its end. */
static int take(uint16_t type, const struct payload *p, size_t len)
{
	_cleanup_free_ uint8_t *exact = xmalloc(len + 1);
	struct wire_reader r;

	memcpy(exact + 1, p->data, len);
	r = wire_reader_init(exact + 1, len);
	return code_map_take(&map, type, &r);
}

static int take_row(uint64_t address, uint32_t size, const char *class, const char *name,
		    const char *descriptor)
{
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_row(&p.w, address, size, class, name, descriptor);
	return take(WIRE_CODE_ROWS, &p, p.w.len);
}

static int take_end(uint32_t n, uint32_t unloaded)
{
	struct payload p;

	wire_put_u32(begin(&p), n);
	wire_put_u32(&p.w, unloaded);
	return take(WIRE_CODE_END, &p, p.w.len);
}

static const char *lines(void)
{
	code_map_sort(&map);
	buf_reset(&text);
	code_map_add(&text, &map);
	return buf_str(&text);
}

/* The names are those that Compiler.perfmap of JDK 17 writes for the same methods. */
START_TEST(methods_are_named_as_by_the_jvm)
{
	static const struct {
		const char *class, *name, *descriptor, *want;
	} rows[] = {
		{ "LNames;", "arr",
		  "([Ljava/lang/String;J[[DLjava/util/Map$Entry;)[[I",
		  "int[][] Names.arr(java.lang.String[], long, double[][], java.util.Map$Entry)" },
		{ "Ljava/lang/Object;", "<init>", "()V", "void java.lang.Object.<init>()" },
		{ "LNames$$Lambda$1.0x00007f23ac001450;", "apply", "(I)Ljava/lang/Object;",
		  "java.lang.Object Names$$Lambda$1/0x00007f23ac001450.apply(int)" },
		/* JDK 8 to 14 */
		{ "LNames$$Lambda$1/791452441;", "apply", "(I)Ljava/lang/Object;",
		  "java.lang.Object Names$$Lambda$1/791452441.apply(int)" },
		{ "", "I2C/C2I adapters", "", "I2C/C2I adapters" },
		/* Class files may have names and descriptors that Java does not permit. */
		{ "Lp/A;", "a b\n7f00 10 fake", "(I)V", "void p.A.a b\\x0A7f00 10 fake(int)" },
		{ "Lp/A;", "f", "(I", "p.A.f(I" },
		{ "Lp/A;", "f", "()VV", "p.A.f()VV" },
		{ "Lp/A;", "f", "", "p.A.f" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *want = xasprintf("7f2410eca8a0 b0 %s\n", rows[i].want);

		ck_assert_int_eq(take_row(0x7f2410eca8a0, 0xb0, rows[i].class, rows[i].name,
					  rows[i].descriptor), 0);
		ck_assert_int_eq(take_end(1, 0), 1);
		ck_assert_str_eq(lines(), want);
		code_map_release(&map);
	}
}
END_TEST

START_TEST(rows_are_sorted_and_do_not_overlap)
{
	ck_assert_int_eq(take_row(0x300, 0x10, "", "last", ""), 0);
	ck_assert_int_eq(take_row(0x100, 0x200, "", "container", ""), 0);
	ck_assert_int_eq(take_row(0x180, 0x20, "", "stub", ""), 0);
	ck_assert_int_eq(take_row(0x2f0, 0x8, "", "discarded", ""), 0);
	ck_assert_int_eq(take_row(0x2f0, 0x8, "", "reused", ""), 0);
	ck_assert_int_eq(take_row(0x2f8, 0, "", "empty", ""), 0);
	ck_assert_int_eq(take_end(6, 3), 1);
	ck_assert_uint_eq(map.n_unloaded, 3);
	ck_assert_str_eq(lines(), "100 80 container\n180 20 stub\n2f0 8 reused\n300 10 last\n");
}
END_TEST

START_TEST(an_empty_map_has_no_lines)
{
	ck_assert_int_eq(take_end(0, 0), 1);
	ck_assert_str_eq(lines(), "");
}
END_TEST

START_TEST(rows_may_reach_the_end_of_memory_but_not_pass_it)
{
	ck_assert_int_eq(take_row(UINT64_MAX - 0x10, 0x10, "", "top", ""), 0);
	ck_assert_str_eq(lines(), "ffffffffffffffef 10 top\n");
	ck_assert_int_eq(take_row(UINT64_MAX - 0x10, 0x11, "", "beyond", ""), -EBADMSG);
}
END_TEST

START_TEST(inconsistent_frames_are_rejected)
{
	ck_assert_int_eq(take_row(1, 1, "p/A", "f", "()V"), -EBADMSG);
	ck_assert_int_eq(take_row(1, 1, "L;", "f", "()V"), -EBADMSG);
	ck_assert_int_eq(take_row(1, 1, "", "f", ""), 0);
	ck_assert_int_eq(take_end(0, 0), -EBADMSG);
	ck_assert_int_eq(take_end(2, 0), -EBADMSG);
	ck_assert_int_eq(take_end(1, 0), 1);
}
END_TEST

START_TEST(incomplete_and_other_frames_are_rejected)
{
	struct payload p;

	wire_put_u32(begin(&p), 2);
	put_row(&p.w, 0x10, 1, "Lp/A;", "f", "(I)V");
	put_row(&p.w, 0x20, 1, "", "stub", "");
	for (size_t len = 0; len < p.w.len; len++) {
		ck_assert_int_eq(take(WIRE_CODE_ROWS, &p, len), -EBADMSG);
		code_map_release(&map);
	}
	ck_assert_int_eq(take(WIRE_PATCH_ROW, &p, p.w.len), -EBADMSG);
	wire_put_u32(begin(&p), 0);
	wire_put_u32(&p.w, 0);
	for (size_t len = 0; len < p.w.len; len++)
		ck_assert_int_eq(take(WIRE_CODE_END, &p, len), -EBADMSG);
	ck_assert_int_eq(take(WIRE_CODE_END, &p, p.w.len), 1);
}
END_TEST

/* Takes rows until they are rejected. */
static void reject_endless(const struct payload *p)
{
	int rc = 0;

	for (int i = 0; i < 1000000 && rc == 0; i++)
		rc = take(WIRE_CODE_ROWS, p, p->w.len);
	ck_assert_int_eq(rc, -EBADMSG);
}

START_TEST(endless_rows_are_rejected)
{
	struct payload p;

	wire_put_u32(begin(&p), 300);
	for (int i = 0; i < 300; i++)
		put_row(&p.w, 1, 1, "", "", "");
	ck_assert(wire_writer_ok(&p.w));
	reject_endless(&p);
}
END_TEST

START_TEST(endless_names_are_rejected)
{
	char name[8001];
	struct payload p;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	wire_put_u32(begin(&p), 1);
	put_row(&p.w, 1, 1, "", name, "");
	ck_assert(wire_writer_ok(&p.w));
	reject_endless(&p);
	ck_assert_uint_lt(map.n, 100000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_map");
	TCase *tc = tcase_create("code_map");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, methods_are_named_as_by_the_jvm);
	tcase_add_test(tc, rows_are_sorted_and_do_not_overlap);
	tcase_add_test(tc, an_empty_map_has_no_lines);
	tcase_add_test(tc, rows_may_reach_the_end_of_memory_but_not_pass_it);
	tcase_add_test(tc, inconsistent_frames_are_rejected);
	tcase_add_test(tc, incomplete_and_other_frames_are_rejected);
	tcase_add_test(tc, endless_rows_are_rejected);
	tcase_add_test(tc, endless_names_are_rejected);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
