/* The table of `top` at every width, names that are hostile or wide, and what is drawn. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/util.h"
#include "render/top/screen_keys.h"
#include "render/top/top_screen.h"
#include "render/top/top_stack.h"

#define N_THREADS 50

static struct top_thread list[N_THREADS];
static struct top_threads threads = { list, N_THREADS, true };
static size_t rows[N_THREADS];
static struct top_jvm jvm = {
	.pid = 4711, .main = "Shop", .version = "17.0.15", .gc = "G1", .uptime = 3600,
	.cpu_limit = 2, .resident = 512 << 20, .memory_limit = 1 << 30, .heap_max = 256 << 20,
	.threads = N_THREADS,
	.rates = { .seconds = 1, .cpu_percent = 123.4, .throttled_percent = 5.5, .gc_percent = 1.2,
		   .safepoint_percent = 1.3, .allocation = 10 << 20, .heap_used = 100 << 20,
		   .heap_after = 50 << 20 },
};
static struct top_view view;
static struct top_place place;
static struct screen screen;

static void setup(void)
{
	memset(list, 0, sizeof(list));
	for (size_t i = 0; i < N_THREADS; i++) {
		list[i] = (struct top_thread){ .tid = (int64_t)i + 100, .id = (int64_t)i,
					       .cpu_s = 1.5, .cpu_percent = 99.9, .state = 'R' };
		memcpy(list[i].comm, "comm", 5);
		rows[i] = i;
	}
	view = (struct top_view){ .seconds = 1, .jvm = &jvm, .threads = &threads, .rows = rows,
				  .n = N_THREADS };
	place = (struct top_place){ .selected = 0 };
	screen = (struct screen){ .rows = NULL };
}

static void teardown(void)
{
	screen_release(&screen);
}

static void compose(size_t n_rows, size_t columns)
{
	screen_release(&screen);
	screen_init(&screen, n_rows, columns);
	top_screen_table(&screen, &view, &place, "q quit");
}

static const char *row(size_t i)
{
	return buf_str(&screen.rows[i].text);
}

static bool has(const char *text)
{
	for (size_t i = 0; i < screen.n_rows; i++) {
		if (strstr(row(i), text))
			return true;
	}
	return false;
}

START_TEST(no_row_is_wider_than_the_screen)
{
	list[0].name = (char *)"w\xc3\xa4rme \xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2 "
			       "\x1b[2J\n a very long name of a thread that no screen has room "
			       "for, and more of it";
	for (size_t columns = 20; columns <= 200; columns++) {
		for (int is_jvms = 0; is_jvms < 2; is_jvms++) {
			view.jvm = is_jvms ? NULL : &jvm;
			view.jvms = &jvm;
			view.n_jvms = 1;
			view.n = is_jvms ? 1 : N_THREADS;
			compose(24, columns);
			for (size_t i = 0; i < 24; i++) {
				const struct buf *text = &screen.rows[i].text;
				size_t width = printable_width(buf_str(text), text->len);

				ck_assert_uint_le(width, columns);
				for (size_t k = 0; k < text->len; k++)
					ck_assert_int_ge((unsigned char)text->data[k], ' ');
			}
			ck_assert_str_eq(row(23), "q quit");
			ck_assert(has(is_jvms ? "MAIN" : "NAME"));
			ck_assert(has(is_jvms ? "Shop" : "w\xc3\xa4rme"));
		}
	}
}
END_TEST

START_TEST(wide_screen_shows_everything)
{
	compose(24, 200);
	ck_assert_str_eq(row(0), "JVM 4711 Shop   17.0.15   G1   up 1h00m   50 threads");
	ck_assert_str_eq(row(1), "CPU 123.4 % of 200   throttled 5.5 %   GC 1.2 %   "
				 "safepoints 1.3 %");
	ck_assert_str_eq(row(2), "heap 100 MiB of 256 MiB   after collection 50.0 MiB   "
				 "allocation 10.0 MiB/s   RSS 512 MiB of 1.00 GiB");
	ck_assert_str_eq(row(3), "  CPU%    TIME     TID STATE    NAME");
	ck_assert_str_eq(row(4), "  99.9  1.50 s     100 running  comm");
	ck_assert_int_eq(screen.rows[3].style, SCREEN_REVERSE);
	ck_assert_int_eq(screen.rows[4].style, SCREEN_REVERSE);
	ck_assert_int_eq(screen.rows[5].style, SCREEN_PLAIN);
}
END_TEST

START_TEST(narrow_screen_omits_columns_and_wraps_the_head)
{
	compose(24, 20);
	ck_assert_str_eq(row(0), "JVM 4711 Shop");
	ck_assert(has("  CPU% NAME"));
	ck_assert(has("  99.9 comm"));
	ck_assert(!has("TID"));
}
END_TEST

START_TEST(unknown_values_are_dashes)
{
	static struct top_jvm unknown = { .pid = 1, .uptime = -1, .cpu_limit = -1, .resident = -1,
					  .memory_limit = -1, .heap_max = -1,
					  .rates = { .cpu_percent = -1, .throttled_percent = -1,
						     .gc_percent = -1, .safepoint_percent = -1,
						     .allocation = -1, .heap_used = -1,
						     .heap_after = -1 } };
	view.jvm = &unknown;
	compose(24, 120);
	ck_assert_str_eq(row(1), "CPU -   GC -   safepoints -");
	ck_assert_str_eq(row(2), "heap -   after collection -   allocation -   RSS -");
	view.jvm = NULL;
	view.jvms = &unknown;
	view.n_jvms = view.n = 1;
	compose(24, 120);
	ck_assert_str_eq(row(2), "      1      -     -      -     -     -        -        -"
				 "        -        - -");
}
END_TEST

START_TEST(selected_row_is_always_shown)
{
	place.selected = 49;
	compose(24, 120);
	ck_assert_uint_eq(place.page, 24 - 4 - 1);
	ck_assert_uint_eq(place.first, 50 - place.page);
	ck_assert_int_eq(screen.rows[22].style, SCREEN_REVERSE);
	place.selected = 0;
	compose(24, 120);
	ck_assert_uint_eq(place.first, 0);
	place.selected = SIZE_MAX / 2;
	view.n = 3;
	compose(24, 120);
	ck_assert_uint_eq(place.selected, 2);
	view.n = 0;
	compose(24, 120);
	ck_assert_uint_eq(place.selected, 0);
	for (size_t n = 0; n < 8; n++)
		compose(n, n);
}
END_TEST

START_TEST(limit_applies_to_the_screen)
{
	view.limit = 2;
	place.selected = 40;
	compose(24, 120);
	ck_assert_uint_eq(place.selected, 1);
	ck_assert_str_eq(row(6), "");
}
END_TEST

START_TEST(only_rows_that_differ_are_drawn)
{
	struct screen before = { .rows = NULL };
	struct buf out = BUF_INIT;

	compose(24, 120);
	screen_draw(NULL, &screen, &out);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\033[2J"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\033[24;1H"));
	before = screen;
	screen = (struct screen){ .rows = NULL };
	compose(24, 120);
	buf_reset(&out);
	screen_draw(&before, &screen, &out);
	ck_assert_uint_eq(out.len, 0);
	list[1].cpu_percent = 1;
	compose(24, 120);
	screen_draw(&before, &screen, &out);
	ck_assert_str_eq(buf_str(&out), "\033[6;1H\033[0m\033[K\033[0m"
					"   1.0  1.50 s     101 running  comm\033[0m");
	buf_reset(&out);
	compose(23, 120);
	screen_draw(&before, &screen, &out);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\033[2J"));
	screen_release(&before);
	buf_release(&out);
}
END_TEST

START_TEST(text_scrolls_to_its_end)
{
	screen_init(&screen, 5, 20);
	place.scroll = 100;
	top_screen_text(&screen, "title", "1\n2\n3\n4\n5\n", &place, "status");
	ck_assert_str_eq(row(0), "title");
	ck_assert_str_eq(row(1), "3");
	ck_assert_str_eq(row(3), "5");
	ck_assert_str_eq(row(4), "status");
	ck_assert_uint_eq(place.scroll, 2);
}
END_TEST

START_TEST(stack_has_state_lock_and_frames)
{
	char *frames[] = { (char *)"a.B.c(B.java:1)", (char *)"a.B.\033d(B.java:2)" };
	struct dump_thread in_dump[] = {
		{ .name = (char *)"w\n", .tid = 7, .state = (char *)"BLOCKED", .owner = 1,
		  .wait = THREAD_WAITS_FOR_MONITOR, .waits_for = { 1, (char *)"a.Lock" },
		  .frames = frames, .n_frames = 2, .carries = 9, .id = 1 },
		{ .name = (char *)"owner", .tid = 8, .state = (char *)"RUNNABLE",
		  .owner = NO_THREAD, .id = 2, .carries = -1 },
		{ .name = (char *)"v", .tid = -1, .state = (char *)"RUNNABLE", .virtual = true,
		  .owner = NO_THREAD, .id = 9, .carries = -1 },
	};
	const struct thread_dump dump = { .threads = in_dump, .n = 3 };
	struct buf out = BUF_INIT;

	top_stack_add(&dump, 7, &out);
	ck_assert_str_eq(buf_str(&out), "\"w\\x0A\" BLOCKED\nwaits for a.Lock, held by \"owner\"\n"
					"    at a.B.c(B.java:1)\n    at a.B.\\x1Bd(B.java:2)\n"
					"virtual thread \"v\" RUNNABLE\n    (no Java frames)\n");
	buf_reset(&out);
	top_stack_add(&dump, 99, &out);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "does not have this thread"));
	buf_release(&out);
}
END_TEST

START_TEST(json_has_null_for_unknown_values)
{
	struct json *doc = top_view_json(&view);

	ck_assert_int_eq((int)json_length(json_get(doc, "threads")), N_THREADS);
	ck_assert_int_eq(json_get_number(json_get(doc, "jvm"), "rss", -1), 512 << 20);
	json_free(doc);
	view.limit = 3;
	view.jvm = NULL;
	view.jvms = &jvm;
	view.n_jvms = view.n = 1;
	doc = top_view_json(&view);
	ck_assert_int_eq((int)json_length(json_get(doc, "jvms")), 1);
	ck_assert_ptr_null(json_get(doc, "pid"));
	json_free(doc);
}
END_TEST

START_TEST(keys_are_decoded)
{
	static const struct {
		const char *bytes;
		size_t len;
		int key;
	} cases[] = {
		{ "q", 1, 'q' }, { "\r", 1, KEY_ENTER }, { "\n", 1, KEY_ENTER },
		{ "\033", 1, KEY_ESCAPE }, { "\033q", 1, KEY_ESCAPE }, { "\b", 1, KEY_BACKSPACE },
		{ "\033[A", 3, KEY_UP }, { "\033OB", 3, KEY_DOWN }, { "\033[5~x", 4, KEY_PAGE_UP },
		{ "\033[6~", 4, KEY_PAGE_DOWN }, { "\033[1;5A", 6, KEY_NONE },
		{ "\033[", 2, KEY_NONE }, { "\033[12", 4, KEY_NONE }, { "\033[H", 3, KEY_HOME },
		{ "\033[4~", 4, KEY_END }, { "\xc3\xa4", 1, 0xc3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int key = -1;

		ck_assert_uint_eq(screen_key(cases[i].bytes, strlen(cases[i].bytes), &key),
				  cases[i].len);
		ck_assert_int_eq(key, cases[i].key);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/top");
	TCase *tc = tcase_create("render/top");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, no_row_is_wider_than_the_screen);
	tcase_add_test(tc, wide_screen_shows_everything);
	tcase_add_test(tc, narrow_screen_omits_columns_and_wraps_the_head);
	tcase_add_test(tc, unknown_values_are_dashes);
	tcase_add_test(tc, selected_row_is_always_shown);
	tcase_add_test(tc, limit_applies_to_the_screen);
	tcase_add_test(tc, only_rows_that_differ_are_drawn);
	tcase_add_test(tc, text_scrolls_to_its_end);
	tcase_add_test(tc, stack_has_state_lock_and_frames);
	tcase_add_test(tc, json_has_null_for_unknown_values);
	tcase_add_test(tc, keys_are_decoded);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
