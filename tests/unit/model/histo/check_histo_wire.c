/* Builds a histogram from the agent's frames. */
#include <check.h>
#include <errno.h>

#include "base/xalloc.h"
#include "unit/support/sample_histo.h"
#include "model/histo/histo_wire.h"

/* The payload of a frame, written as the agent does. */
struct payload {
	uint8_t data[1024];
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

static void put_loader(struct payload *p, uint32_t id, const char *class, const char *name)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, id);
	put_text(w, class);
	put_text(w, name);
	wire_put_u32(w, 0x1f2e3d4c);
}

static void put_classes(struct payload *p, uint32_t loader, uint32_t module)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, 2);
	wire_put_u32(w, loader);
	wire_put_u32(w, module);
	put_text(w, "La/B;");
	wire_put_u64(w, 3);
	wire_put_u64(w, 48);
	wire_put_u32(w, 0);
	wire_put_u32(w, 0);
	put_text(w, "[I");
	wire_put_u64(w, 0);
	wire_put_u64(w, 0);
}

static int take(struct histo_wire *w, uint16_t type, const struct payload *p, size_t len)
{
	_cleanup_free_ uint8_t *exact = xmalloc(len);
	struct wire_reader r = wire_reader_init(exact, len);

	memcpy(exact, p->data, len);
	return histo_wire_take(w, type, &r);
}

static const struct {
	const char *class, *name, *label;
} loaders[] = {
	{ "Ljdk/internal/loader/ClassLoaders$AppClassLoader;", "app", "app" },
	{ "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;", "platform", "platform" },
	{ "Lsun/misc/Launcher$AppClassLoader;", "", "app" },
	{ "Lsun/misc/Launcher$ExtClassLoader;", "", "platform" },
	{ "La/b/Loader;", "", "a.b.Loader @1f2e3d4c" },
	{ "La/b/Loader;", "app", "a.b.Loader 'app' @1f2e3d4c" },
};

START_TEST(histogram_is_built_from_frames)
{
	struct histo h = { 0 };
	struct histo_wire w = { .histo = &h };
	struct payload p;

	put_loader(&p, 1, loaders[_i].class, loaders[_i].name);
	ck_assert_int_eq(take(&w, WIRE_LOADER, &p, p.w.len), 0);
	wire_put_u32(begin(&p), 1);
	put_text(&p.w, "java.base");
	ck_assert_int_eq(take(&w, WIRE_MODULE, &p, p.w.len), 0);
	put_classes(&p, 1, 1);
	ck_assert_int_eq(take(&w, WIRE_HISTO_CLASSES, &p, p.w.len), 0);
	wire_put_u32(begin(&p), 2); /* an unnamed module */
	put_text(&p.w, "");
	ck_assert_int_eq(take(&w, WIRE_MODULE, &p, p.w.len), 0);
	put_classes(&p, 0, 2);
	ck_assert_int_eq(take(&w, WIRE_HISTO_CLASSES, &p, p.w.len), 0);
	wire_put_u64(begin(&p), 1234);
	wire_put_u32(&p.w, WIRE_WALK_KLASS);
	wire_put_u64(&p.w, 5);
	wire_put_u64(&p.w, 6);
	wire_put_u32(&p.w, 1);
	ck_assert_int_eq(take(&w, WIRE_HISTO_END, &p, p.w.len), 1);

	ck_assert_str_eq(rows(&h), "a.B:3/48 a.B:3/48"); /* classes without instances are omitted */
	ck_assert_str_eq(h.rows[0].loader, loaders[_i].label);
	ck_assert_str_eq(h.rows[0].module, "java.base");
	ck_assert_str_eq(h.rows[1].loader, "bootstrap");
	ck_assert_ptr_null(h.rows[1].module);
	ck_assert_uint_eq(w.walk_ns, 1234);
	ck_assert_uint_eq(w.method, WIRE_WALK_KLASS);
	ck_assert(w.is_late);
	histo_wire_release(&w);
	histo_release(&h);
}
END_TEST

START_TEST(frames_cut_at_every_byte_are_rejected)
{
	struct payload p[3];
	static const uint16_t types[] = { WIRE_LOADER, WIRE_HISTO_CLASSES, WIRE_HISTO_END };

	put_loader(&p[0], 1, "La/b/Loader;", "name");
	put_classes(&p[1], 0, 0);
	wire_put_u64(begin(&p[2]), 1);
	wire_put_u32(&p[2].w, 2);
	wire_put_u64(&p[2].w, 3);
	wire_put_u64(&p[2].w, 4);
	wire_put_u32(&p[2].w, 0);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		for (size_t len = 0; len < p[i].w.len; len++) {
			struct histo h = { 0 };
			struct histo_wire w = { .histo = &h };

			ck_assert_int_eq(take(&w, types[i], &p[i], len), -EBADMSG);
			histo_wire_release(&w);
			histo_release(&h);
		}
	}
}
END_TEST

START_TEST(inconsistent_frames_are_rejected)
{
	struct histo h = { 0 };
	struct histo_wire w = { .histo = &h };
	struct payload p;

	put_classes(&p, 1, 0); /* an unknown loader */
	ck_assert_int_eq(take(&w, WIRE_HISTO_CLASSES, &p, p.w.len), -EBADMSG);
	put_classes(&p, 0, 1);
	ck_assert_int_eq(take(&w, WIRE_HISTO_CLASSES, &p, p.w.len), -EBADMSG);
	put_loader(&p, 2, "La/b/Loader;", ""); /* out of order */
	ck_assert_int_eq(take(&w, WIRE_LOADER, &p, p.w.len), -EBADMSG);
	put_loader(&p, 0, "La/b/Loader;", "");
	ck_assert_int_eq(take(&w, WIRE_LOADER, &p, p.w.len), -EBADMSG);
	put_loader(&p, 1, "no signature", "");
	ck_assert_int_eq(take(&w, WIRE_LOADER, &p, p.w.len), -EBADMSG);
	ck_assert_int_eq(take(&w, WIRE_GONE, &p, p.w.len), -EBADMSG);
	wire_put_u32(begin(&p), UINT32_MAX); /* more rows than follow */
	ck_assert_int_eq(take(&w, WIRE_HISTO_CLASSES, &p, p.w.len), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	wire_put_u32(&p.w, 0);
	wire_put_u32(&p.w, 0);
	put_text(&p.w, "La/B;");
	wire_put_u64(&p.w, UINT64_MAX); /* an impossible number of instances */
	wire_put_u64(&p.w, 1);
	ck_assert_int_eq(take(&w, WIRE_HISTO_CLASSES, &p, p.w.len), -EBADMSG);
	ck_assert_uint_eq(h.n, 0);
	histo_wire_release(&w);
	histo_release(&h);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/histo/histo_wire");
	TCase *tc = tcase_create("model/histo/histo_wire");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, histogram_is_built_from_frames, 0, ARRAY_SIZE(loaders));
	tcase_add_test(tc, frames_cut_at_every_byte_are_rejected);
	tcase_add_test(tc, inconsistent_frames_are_rejected);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
