/* The list of patches: the agent's frames and filters. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "model/redefine/patches.h"
#include "wire/frame.h"

static struct patches patches;

static void setup(void)
{
	patches = (struct patches){ 0 };
}

static void teardown(void)
{
	patches_release(&patches);
}

struct payload {
	uint8_t data[400];
	struct wire_writer w;
};

static struct wire_writer *begin(struct payload *p)
{
	p->w = wire_writer_init(p->data, sizeof(p->data));
	return &p->w;
}

static void put_text(struct wire_writer *w, const char *text)
{
	wire_put_text(w, text, strlen(text));
}

static void put_row(struct payload *p, uint64_t id, uint32_t loader, const char *signature)
{
	struct wire_writer *w = begin(p);

	wire_put_u64(w, id);
	wire_put_u64(w, UINT64_C(1751371200123));
	wire_put_u32(w, loader);
	put_text(w, signature);
	put_text(w, "/app/C.class");
	put_text(w, "0123abcd");
}

static void put_loader(struct payload *p, const char *class, const char *name)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, 1);
	put_text(w, class);
	put_text(w, name);
	wire_put_u32(w, 0x1f2e);
}

static int take(uint16_t type, const struct payload *p, size_t len)
{
	struct wire_reader r = wire_reader_init(p->data, len);

	return patches_take(&patches, type, &r);
}

static void fill(void)
{
	struct payload p;

	put_row(&p, 7, 0, "Ljava/lang/String;");
	ck_assert_int_eq(take(WIRE_PATCH_ROW, &p, p.w.len), 0);
	put_loader(&p, "Lx/Loader;", "mine");
	ck_assert_int_eq(take(WIRE_LOADER, &p, p.w.len), 0);
	put_row(&p, 8, 1, "La/b/C$D;");
	ck_assert_int_eq(take(WIRE_PATCH_ROW, &p, p.w.len), 0);
	wire_put_u32(begin(&p), 2);
	ck_assert_int_eq(take(WIRE_PATCHES_END, &p, p.w.len), 1);
}

START_TEST(patches_are_parsed)
{
	const struct patch_row *row;
	char when[PATCH_WHEN_MAX];

	fill();
	ck_assert_uint_eq(patches.n, 2);
	row = &patches.rows[1];
	ck_assert_uint_eq(row->id, 8);
	ck_assert_str_eq(row->class, "a.b.C$D");
	ck_assert_str_eq(class_origins_loader(&patches.origins, row->loader),
			 "x.Loader 'mine' @1f2e");
	ck_assert_str_eq(row->file, "/app/C.class");
	ck_assert_str_eq(row->digest, "0123abcd");
	ck_assert_str_eq(patch_when(row, when), "2025-07-01T12:00:00Z");
	ck_assert_str_eq(class_origins_loader(&patches.origins, patches.rows[0].loader),
			 "bootstrap");
}
END_TEST

START_TEST(patches_match_class_pattern_and_loader)
{
	const struct patch_row *row;

	fill();
	row = &patches.rows[1];
	ck_assert(patches_match(&patches, row, NULL, NULL));
	ck_assert(patches_match(&patches, row, "a.b.C$D", NULL));
	ck_assert(patches_match(&patches, row, "a/b/C$D", "Loader"));
	ck_assert(patches_match(&patches, row, "a.*", "@1f2e"));
	ck_assert(patches_match(&patches, row, NULL, "mine"));
	ck_assert(!patches_match(&patches, row, "b.C$D", NULL));
	ck_assert(!patches_match(&patches, row, "a.*", "app"));
	ck_assert(!patches_match(&patches, &patches.rows[0], "a.*", NULL));
}
END_TEST

START_TEST(time_beyond_the_calendar_is_shown_safely)
{
	struct patch_row row = { .when_ms = UINT64_MAX };
	char when[PATCH_WHEN_MAX];

	ck_assert_uint_lt(strlen(patch_when(&row, when)), sizeof(when));
}
END_TEST

START_TEST(frames_cut_at_every_byte_are_rejected)
{
	struct payload p;

	put_row(&p, 7, 0, "LC;");
	for (size_t len = 0; len < p.w.len; len++)
		ck_assert_int_eq(take(WIRE_PATCH_ROW, &p, len), -EBADMSG);
	wire_put_u32(begin(&p), 0);
	for (size_t len = 0; len < p.w.len; len++)
		ck_assert_int_eq(take(WIRE_PATCHES_END, &p, len), -EBADMSG);
	ck_assert_uint_eq(patches.n, 0);
}
END_TEST

START_TEST(inconsistent_frames_are_rejected)
{
	struct payload p;

	put_row(&p, 7, 1, "LC;"); /* an unknown loader */
	ck_assert_int_eq(take(WIRE_PATCH_ROW, &p, p.w.len), -EBADMSG);
	put_row(&p, 7, 0, "X");
	ck_assert_int_eq(take(WIRE_PATCH_ROW, &p, p.w.len), -EBADMSG);
	wire_put_u32(begin(&p), 1); /* more rows than were sent */
	ck_assert_int_eq(take(WIRE_PATCHES_END, &p, p.w.len), -EBADMSG);
	put_row(&p, 7, 0, "LC;");
	ck_assert_int_eq(take(WIRE_RESTORED, &p, p.w.len), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/redefine/patches");
	TCase *c = tcase_create("model/redefine/patches");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, patches_are_parsed);
	tcase_add_test(c, patches_match_class_pattern_and_loader);
	tcase_add_test(c, time_beyond_the_calendar_is_shown_safely);
	tcase_add_test(c, frames_cut_at_every_byte_are_rejected);
	tcase_add_test(c, inconsistent_frames_are_rejected);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
