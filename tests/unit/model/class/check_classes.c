/* The class list and one class's details: parsing of the agent's frames, filters and names. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "model/class/classes.h"
#include "model/class/class_info.h"
#include "base/suggest.h"
#include "wire/frame.h"

/* The payload of a frame, written as the agent does. */
struct payload {
	uint8_t data[2048];
	struct wire_writer w;
};

static struct wire_writer *begin(struct payload *p)
{
	p->w = wire_writer_init(p->data, sizeof(p->data));
	return &p->w;
}

static void put_text(struct payload *p, const char *text)
{
	wire_put_text(&p->w, text, strlen(text));
}

static void put_loader(struct payload *p, uint32_t id, const char *class, const char *name)
{
	wire_put_u32(begin(p), id);
	put_text(p, class);
	put_text(p, name);
	wire_put_u32(&p->w, 0x1f2e3d4c);
}

static void put_origin(struct payload *p, uint32_t id, const char *text)
{
	wire_put_u32(begin(p), id);
	put_text(p, text);
}

struct sent_row {
	const char *signature;
	uint32_t loader, module, source, modifiers, traits;
};

static void put_row(struct payload *p, const struct sent_row *row)
{
	wire_put_u32(&p->w, row->loader);
	wire_put_u32(&p->w, row->module);
	wire_put_u32(&p->w, row->source);
	wire_put_u32(&p->w, row->modifiers);
	wire_put_u32(&p->w, row->traits);
	put_text(p, row->signature);
}

static void put_rows(struct payload *p, const struct sent_row *rows, uint32_t n)
{
	wire_put_u32(begin(p), n);
	for (uint32_t i = 0; i < n; i++)
		put_row(p, &rows[i]);
}

static int take_cut(struct classes *c, uint16_t type, const struct payload *p, size_t len)
{
	_cleanup_free_ uint8_t *exact = xmalloc(len);
	struct wire_reader r = wire_reader_init(exact, len);

	memcpy(exact, p->data, len);
	return classes_take(c, type, &r);
}

static void take(struct classes *c, uint16_t type, const struct payload *p)
{
	ck_assert_int_eq(take_cut(c, type, p, p->w.len), 0);
}

static const struct sent_row sample_rows[] = {
	{ "Lp/B;", 2, 0, 1, 0x0011, WIRE_CLASS_LINKED },
	{ "Ljava/lang/String;", 0, 1, 2, 0x0011, WIRE_CLASS_LINKED },
	{ "Lp/B;", 1, 2, 0, 0x0001, WIRE_CLASS_LINKED },
	{ "[I", 0, 1, 2, 0x0411, WIRE_CLASS_ARRAY },
	{ "Lp/A$$Lambda.0x00007f;", 1, 0, 1, 0x1010, 0 },
	{ "Ljava/lang/invoke/LambdaForm$MH.0x7;", 0, 1, 2, 0x0010, 0 },
};

static struct classes sample(void)
{
	struct classes c = { 0 };
	struct payload p;

	put_loader(&p, 1, "Ljdk/internal/loader/ClassLoaders$AppClassLoader;", "app");
	take(&c, WIRE_LOADER, &p);
	put_loader(&p, 2, "La/b/Loader;", "red");
	take(&c, WIRE_LOADER, &p);
	put_origin(&p, 1, "java.base");
	take(&c, WIRE_MODULE, &p);
	put_origin(&p, 2, "");
	take(&c, WIRE_MODULE, &p);
	put_origin(&p, 1, "file:/x/a%20b%00%2");
	take(&c, WIRE_SOURCE, &p);
	put_origin(&p, 2, "jrt:/java.base");
	take(&c, WIRE_SOURCE, &p);
	put_rows(&p, sample_rows, ARRAY_SIZE(sample_rows));
	take(&c, WIRE_CLASS_ROWS, &p);
	wire_put_u32(begin(&p), (uint32_t)c.n);
	ck_assert_int_eq(take_cut(&c, WIRE_CLASSES_END, &p, p.w.len), 1);
	return c;
}

/* Returns the rows as "NAME LOADER MODULE SOURCE, …"; "-": no module, no source. */
static const char *shown(const struct classes *c)
{
	static char text[1024];
	size_t len = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct class_row *row = &c->rows[i];
		const char *module = class_origins_module(&c->origins, row->module);
		const char *source = class_origins_source(&c->origins, row->source);

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s %s %s",
					i ? ", " : "", row->name,
					class_origins_loader(&c->origins, row->loader),
					module ? module : "-", source ? source : "-");
		ck_assert_uint_lt(len, sizeof(text));
	}
	return text;
}

START_TEST(frames_become_sorted_classes)
{
	struct classes c = sample();

	classes_sort(&c);
	ck_assert_str_eq(shown(&c), "int[] bootstrap java.base -, "
				    "java.lang.String bootstrap java.base jrt:/java.base, "
				    "java.lang.invoke.LambdaForm$MH/0x7 bootstrap java.base -, "
				    "p.A$$Lambda/0x00007f app - /x/a b%00%2, "
				    "p.B app - -, "
				    "p.B a.b.Loader 'red' @1f2e3d4c - /x/a b%00%2");
	ck_assert_uint_eq(c.rows[0].number, 3); /* its number in the agent's class index */
	ck_assert_str_eq(c.rows[1].signature, "Ljava/lang/String;");
	classes_release(&c);
}
END_TEST

START_TEST(frames_cut_at_every_byte_are_rejected)
{
	struct payload p[4];
	static const uint16_t types[] = {
		WIRE_LOADER, WIRE_SOURCE, WIRE_CLASS_ROWS, WIRE_CLASSES_END
	};

	put_loader(&p[0], 1, "La/b/Loader;", "name");
	put_origin(&p[1], 1, "file:/x");
	put_rows(&p[2], &(struct sent_row){ "Lp/B;", 0, 0, 0, 0, 0 }, 1);
	wire_put_u32(begin(&p[3]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		for (size_t len = 0; len < p[i].w.len; len++) {
			struct classes c = { 0 };

			ck_assert_int_eq(take_cut(&c, types[i], &p[i], len), -EBADMSG);
			classes_release(&c);
		}
	}
}
END_TEST

START_TEST(inconsistent_frames_are_rejected)
{
	static const struct sent_row bad[] = {
		{ "Lp/B;", 1, 0, 0, 0, 0 }, { "Lp/B;", 0, 1, 0, 0, 0 }, { "Lp/B;", 0, 0, 1, 0, 0 },
		{ "p.B", 0, 0, 0, 0, 0 },   { "", 0, 0, 0, 0, 0 },
		{ "I", 0, 0, 0, 0, 0 },     { "[I", 0, 0, 0, 0, 0 },
		{ "Lp/B;", 0, 0, 0, 0, WIRE_CLASS_ARRAY },
	};
	struct classes c = { 0 };
	struct payload p;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		put_rows(&p, &bad[i], 1);
		ck_assert_int_eq(take_cut(&c, WIRE_CLASS_ROWS, &p, p.w.len), -EBADMSG);
	}
	put_origin(&p, 2, "out of order");
	ck_assert_int_eq(take_cut(&c, WIRE_MODULE, &p, p.w.len), -EBADMSG);
	ck_assert_int_eq(take_cut(&c, WIRE_SOURCE, &p, p.w.len), -EBADMSG);
	wire_put_u32(begin(&p), UINT32_MAX); /* more rows than follow */
	ck_assert_int_eq(take_cut(&c, WIRE_CLASS_ROWS, &p, p.w.len), -EBADMSG);
	ck_assert_int_eq(take_cut(&c, WIRE_CLASSES_END, &p, p.w.len), -EBADMSG);
	ck_assert_int_eq(take_cut(&c, WIRE_GONE, &p, p.w.len), -EBADMSG);
	ck_assert_uint_eq(c.n, 0);
	classes_release(&c);
}
END_TEST

static const struct {
	const char *name;
	uint32_t modifiers, traits;
	const char *kind, *words;
} kinds[] = {
	{ "p.C", 0x0011, WIRE_CLASS_LINKED, "class", "public final" },
	{ "p.C", 0x0000, 0, "class", "" },
	{ "p.C$D", 0x140c, 0, "class", "protected abstract static synthetic" },
	{ "p.I", 0x0601, WIRE_CLASS_INTERFACE, "interface", "public" },
	{ "p.I", 0x2600, WIRE_CLASS_INTERFACE, "annotation", "" },
	{ "p.E", 0x4011, WIRE_CLASS_ENUM, "enum", "public final" },
	{ "p.E$1", 0x4010, 0, "class", "final" },
	{ "p.R", 0x0010, WIRE_CLASS_RECORD, "record", "final" },
	{ "p.C[]", 0x0411, WIRE_CLASS_ARRAY, "array", "public abstract final" },
	{ "p.C$$Lambda/0x7f[]", 0x0410, WIRE_CLASS_ARRAY, "array", "abstract final" },
	{ "p.C/0x7f", 0x0010, 0, "hidden", "final" },
	{ "p.R/0x7f", 0x0010, WIRE_CLASS_RECORD, "hidden", "final" },
	{ "p.C$$Lambda/0x7f", 0x1010, 0, "lambda", "final synthetic" },
	{ "p.C$$Lambda$14/0x7f", 0x1010, 0, "lambda", "final synthetic" },
	{ "p.C$$Lambda$14/1234", 0x1010, 0, "lambda", "final synthetic" },
	{ "p.C$$Lambdas/0x7f", 0, 0, "hidden", "" },
	{ "p.C$$Lambda", 0, 0, "class", "" },
};

START_TEST(kind_and_modifiers_are_shown_as_words)
{
	struct class_row row = {
		.name = (char *)(uintptr_t)kinds[_i].name,
		.modifiers = kinds[_i].modifiers,
		.traits = kinds[_i].traits,
	};
	char text[96], small[8];

	ck_assert_str_eq(class_kind(&row), kinds[_i].kind);
	ck_assert_str_eq(class_modifiers(&row, text, sizeof(text)), kinds[_i].words);
	ck_assert_uint_lt(strlen(class_modifiers(&row, small, sizeof(small))), sizeof(small));
}
END_TEST

static const struct {
	const char *words[3], *loader;
	size_t n, n_unused;
} selections[] = {
	{ { NULL }, NULL, 6, 0 },
	{ { NULL }, "app", 2, 0 },
	{ { "p.B" }, NULL, 2, 0 },
	{ { "p/B" }, "bootstrap", 6, 1 },
	{ { "p/B" }, "app", 1, 0 },
	{ { "p.B" }, "red", 1, 0 },
	{ { "p.B" }, "Loader", 1, 0 },
	{ { "p.B" }, "a.b.Loader", 1, 0 },
	{ { "p.B" }, "@1F2E3D4C", 2, 0 }, /* the application loader has the same hash */
	{ { "p.B" }, "1f2e3d4c", 2, 0 },
	{ { "p.B" }, "a.b.Loader 'red' @1f2e3d4c", 1, 0 },
	{ { "*Lambda/*", "int[]" }, NULL, 2, 0 },
	{ { "p.A$$Lambda/0x00007f" }, NULL, 1, 0 },
	{ { "p.B", "p.X", "q*" }, NULL, 6, 2 },
	{ { "" }, NULL, 6, 1 },
};

START_TEST(patterns_and_loaders_select_classes)
{
	struct classes c = sample();
	char *words[3];
	bool unused[3] = { false };
	size_t n = 0, n_unused;

	for (; n < 3 && selections[_i].words[n]; n++)
		words[n] = (char *)(uintptr_t)selections[_i].words[n];
	n_unused = classes_select(&c, words, n, selections[_i].loader, unused);
	ck_assert_uint_eq(n_unused, selections[_i].n_unused);
	ck_assert_uint_eq(c.n, selections[_i].n);
	ck_assert_uint_eq((size_t)unused[0] + unused[1] + unused[2], n_unused);
	classes_release(&c);
}
END_TEST

static void put_super(struct payload *p, uint32_t how, uint32_t loader, const char *signature)
{
	wire_put_u32(begin(p), how);
	wire_put_u32(&p->w, loader);
	put_text(p, signature);
}

static void put_member(struct payload *p, const char *name, const char *descriptor)
{
	wire_put_u32(begin(p), 1);
	put_text(p, name);
	put_text(p, descriptor);
	put_text(p, "");
}

static void put_end(struct payload *p)
{
	wire_put_u32(begin(p), 61);
	wire_put_u32(&p->w, 0);
	wire_put_u32(&p->w, 12);
	put_text(p, "C.java");
}

static int take_info(struct class_info *c, uint16_t type, const struct payload *p, size_t len)
{
	_cleanup_free_ uint8_t *exact = xmalloc(len);
	struct wire_reader r = wire_reader_init(exact, len);
	struct class_origins origins = { 0 };
	int rc;

	memcpy(exact, p->data, len);
	rc = class_info_take(c, &origins, type, &r);
	class_origins_release(&origins);
	return rc;
}

START_TEST(class_details_are_parsed)
{
	struct class_info c = { 0 };
	struct payload p;

	put_super(&p, 0, 0, "Lp/D;");
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_SUPER, &p, p.w.len), 0);
	put_super(&p, 1, 0, "Lp/I;");
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_SUPER, &p, p.w.len), 0);
	put_member(&p, "b", "I");
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_FIELD, &p, p.w.len), 0);
	put_member(&p, "a", "I");
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_FIELD, &p, p.w.len), 0);
	put_member(&p, "m", "(J)V");
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_METHOD, &p, p.w.len), 0);
	put_member(&p, "m", "()V");
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_METHOD, &p, p.w.len), 0);
	put_end(&p);
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_END, &p, p.w.len), 1);
	ck_assert_str_eq(c.supers.list[0].name, "p.D");
	ck_assert_str_eq(c.interfaces.list[0].name, "p.I");
	ck_assert_str_eq(c.fields.list[0].name, "b"); /* fields stay in order, methods are sorted */
	ck_assert_str_eq(c.methods.list[0].descriptor, "()V");
	ck_assert_str_eq(c.file, "C.java");
	ck_assert_uint_eq(c.major, 61);
	ck_assert_uint_eq(c.constants, 12);
	class_info_release(&c);
}
END_TEST

START_TEST(inconsistent_class_details_are_rejected)
{
	static const uint16_t types[] = { WIRE_CLASS_SUPER, WIRE_CLASS_METHOD, WIRE_CLASS_END };
	struct class_info c = { 0 };
	struct payload p[3];

	put_super(&p[0], 0, 0, "Lp/D;");
	put_member(&p[1], "m", "()V");
	put_end(&p[2]);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		for (size_t len = 0; len < p[i].w.len; len++)
			ck_assert_int_eq(take_info(&c, types[i], &p[i], len), -EBADMSG);
	}
	put_super(&p[0], 0, 7, "Lp/D;"); /* an unknown loader */
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_SUPER, &p[0], p[0].w.len), -EBADMSG);
	put_super(&p[0], 0, 0, "p.D");
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_SUPER, &p[0], p[0].w.len), -EBADMSG);
	ck_assert_int_eq(take_info(&c, WIRE_CLASS_ROWS, &p[0], p[0].w.len), -EBADMSG);
	ck_assert_uint_eq(c.supers.n + c.methods.n, 0);
	class_info_release(&c);
}
END_TEST

START_TEST(edit_distance_counts_transpositions_as_one)
{
	char longer[SUGGEST_LEN_MAX + 2];

	ck_assert_uint_eq(suggest_distance("String", "String"), 0);
	ck_assert_uint_eq(suggest_distance("Strnig", "String"), 1);
	ck_assert_uint_eq(suggest_distance("String", "Strin"), 1);
	ck_assert_uint_eq(suggest_distance("", "abc"), 3);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_uint_gt(suggest_distance(longer, longer), SUGGEST_LEN_MAX);
}
END_TEST

static const char *text_at(const void *texts, size_t i)
{
	return ((const char *const *)texts)[i];
}

START_TEST(similar_class_names_are_suggested)
{
	static const char *const existing[] = {
		"a.Shop[]", "a.Shopping", "a.Outer$Shop", "b.Shop", "a.Workshop$1",
		"b.Shop", "c.Other",
	};
	static const char *const cases[][2] = {
		{ "z.Shop", "b.Shop, a.Outer$Shop, a.Shopping, a.Workshop$1" },
		{ "Shpo", "a.Outer$Shop, b.Shop" },
		{ "c.Nothing", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct suggestions near = SUGGEST_INIT(cases[i][0]);

		suggest_offer_classes(&near, text_at, existing, ARRAY_SIZE(existing));
		ck_assert_str_eq(buf_str(&near.names), cases[i][1]);
		suggest_release(&near);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/class/classes");
	TCase *tc = tcase_create("model/class/classes");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, frames_become_sorted_classes);
	tcase_add_test(tc, frames_cut_at_every_byte_are_rejected);
	tcase_add_test(tc, inconsistent_frames_are_rejected);
	tcase_add_loop_test(tc, kind_and_modifiers_are_shown_as_words, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(tc, patterns_and_loaders_select_classes, 0, ARRAY_SIZE(selections));
	tcase_add_test(tc, class_details_are_parsed);
	tcase_add_test(tc, inconsistent_class_details_are_rejected);
	tcase_add_test(tc, edit_distance_counts_transpositions_as_one);
	tcase_add_test(tc, similar_class_names_are_suggested);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
