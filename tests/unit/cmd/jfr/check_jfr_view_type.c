/* The events of one type, as JSON and as a table; the summary of a recording. */
#include <check.h>
#include <stdlib.h>

#include "cmd/jfr/jfr_view.h"
#include "render/json.h"
#include "unit/support/jfr_writer.h"

#define ROWS 1200 /* events of 1 KB: more than are collected before they are printed */

static struct jfr_writer w;

struct jfr_reader *jfr_recording_reader(struct jfr_recording *rec)
{
	return jfr_reader_new(w_read, &w.file, w.file.len, rec->max_memory);
}

void jfr_recording_done(struct jfr_recording *rec, struct jfr_reader *r)
{
	(void)rec;
	ck_assert_str_eq(jfr_problems(r), "");
	jfr_reader_free(r);
}

/* The type test.Everything without most of its fields. */
static void other_types(struct jfr_writer *to)
{
	w_begin_types(to, 1);
	ELEMENT(to, "class", 1, "name", "test.Everything", "id", "101", "superType",
		"jdk.jfr.Event");
	w_start_fields(to);
	w_end_types(to);
}

static void add_chunk(void (*types)(struct jfr_writer *to), unsigned n)
{
	struct buf text = BUF_INIT;
	size_t metadata, constants;

	w.types = types;
	w_begin_chunk(&w);
	metadata = w_metadata(&w);
	constants = w_constants(&w);
	buf_addc(&text, 3); /* UTF-8 */
	w_int(&w, &text, 1000);
	buf_addf(&text, "%01000d", 0);
	for (unsigned i = 0; i < n; i++)
		w_everything(&w, text.data, text.len);
	w_end_chunk(&w, metadata, constants);
	buf_release(&text);
}

static int view(const char *filter, bool json, char **out, struct err *err)
{
	struct jfr_opts opts = { .filter = filter };
	struct ctx ctx = { .opts = &opts, .json = json };
	struct jfr_recording rec = { .ctx = &ctx, .from_ns = INT64_MIN };
	size_t len;
	int rc;

	ctx.out = open_memstream(out, &len);
	ck_assert_ptr_nonnull(ctx.out);
	rc = jfr_view_type(&rec, "test.Everything", err);
	ck_assert_int_eq(fclose(ctx.out), 0);
	return rc;
}

static void setup(void)
{
	w = (struct jfr_writer){ .major = 2 };
}

static void teardown(void)
{
	w_release(&w);
}

START_TEST(document_is_complete_after_a_late_error)
{
	struct err err = { .code = EXIT_DONE };
	struct json *doc;
	char *out;

	add_chunk(NULL, ROWS);
	add_chunk(other_types, 0);
	ck_assert_int_eq(view("text!=x", true, &out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "unknown field 'text'"));
	doc = json_parse(out, strlen(out));
	ck_assert_ptr_nonnull(doc);
	ck_assert_uint_eq(json_length(json_get(doc, "rows")), ROWS);
	json_free(doc);
	free(out);
}
END_TEST

/* Then main() can print the error as JSON. */
START_TEST(nothing_is_printed_after_an_early_error)
{
	struct err err = { .code = EXIT_DONE };
	char *out;

	add_chunk(NULL, 3);
	add_chunk(other_types, 0);
	ck_assert_int_eq(view("text!=x", true, &out, &err), -1);
	ck_assert_str_eq(out, "");
	free(out);
}
END_TEST

/* Types whose names contain control characters. */
static void hostile_types(struct jfr_writer *to)
{
	w_begin_types(to, 2);
	ELEMENT(to, "class", 2, "name", "test.Everything", "id", "101", "superType",
		"jdk.jfr.Event");
	w_start_fields(to);
	ELEMENT(to, "field", 0, "name", "\x1b[2J", "class", "21");
	ELEMENT(to, "class", 1, "name", "test.\x1b[2J", "id", "102", "superType",
		"jdk.jfr.Event");
	w_start_fields(to);
	w_end_types(to);
}

START_TEST(names_in_a_recording_are_escaped)
{
	struct err err = { .code = EXIT_DONE };
	struct buf event = BUF_INIT;
	struct ctx ctx = { .json = false };
	struct jfr_recording rec = { .ctx = &ctx, .from_ns = INT64_MIN };
	size_t len;
	char *out;

	add_chunk(hostile_types, 0);
	w_long(&w, &event, 3000);
	w_int(&w, &event, 4711);
	w_event(&w, T_EVERYTHING, &event);
	w_patch(&w, 8, w.file.len - w.chunk, 8);
	ck_assert_int_eq(view(NULL, false, &out, &err), 0);
	ck_assert_ptr_nonnull(strstr(out, "\\x1B[2J"));
	ck_assert_ptr_nonnull(strstr(out, "4711"));
	ck_assert_ptr_null(strchr(out, '\x1b'));
	free(out);
	ctx.out = open_memstream(&out, &len);
	ck_assert_int_eq(jfr_view_summary(&rec, &err), 0);
	ck_assert_int_eq(fclose(ctx.out), 0);
	ck_assert_ptr_nonnull(strstr(out, " test.\\x1B[2J "));
	ck_assert_ptr_null(strchr(out, '\x1b'));
	free(out);
	buf_release(&event);
}
END_TEST

/* Conditions on the values that w_everything() writes; the text has 1000 zeros. */
static const struct {
	const char *filter;
	bool accepts;
} filters[] = {
	{ "i=-4", true }, { "i!=-4", false }, { "i<-3", true }, { "i<-4", false },
	{ "i<=-4", true }, { "i>-5", true }, { "i>-4", false }, { "i>=-4", true },
	{ "i>=-3", false },
	{ "d=-2.5", true }, { "d<-2", true }, { "f>1.5", false }, { "f>=1.5", true },
	{ "ub=254", true }, { "b=-2", true },
	{ "l<0", true }, { "l<1k", true }, { "l>1k", false },
	{ "duration<1ms", true }, { "duration>=1ms", false },
	{ "z=true", true }, { "z=false", false }, { "z!=true", false },
	{ "text=0*", true }, { "text!=0*", false }, { "text<1", true }, { "text>1", false },
	{ "thread.osName=in*", true }, { "thread.osName=*x", false },
	/* What is null equals nothing. */
	{ "thread.javaName=*", false }, { "thread.javaName!=main", true },
	{ "thread.javaName<x", false },
};

START_TEST(filter_compares_by_the_type_of_the_field)
{
	struct err err = { .code = EXIT_DONE };
	struct json *doc;
	char *out;

	add_chunk(NULL, 2);
	ck_assert_int_eq(view(filters[_i].filter, true, &out, &err), 0);
	doc = json_parse(out, strlen(out));
	ck_assert_ptr_nonnull(doc);
	ck_assert_uint_eq(json_length(json_get(doc, "rows")), filters[_i].accepts ? 2 : 0);
	json_free(doc);
	free(out);
}
END_TEST

static const struct {
	const char *filter, *error;
} bad_filters[] = {
	{ "i", "invalid filter 'i': expected FIELD OPERATOR VALUE" },
	{ "i=", "invalid filter 'i='" },
	{ "=1", "invalid filter '=1'" },
	{ "i!1", "invalid filter 'i!1'" },
	{ "i=x", "invalid value 'x' for the field 'i': expected a number" },
	{ "i=4x", "invalid value '4x' for the field 'i': expected a number" },
	{ "duration>4", "for the field 'duration': expected a time such as 10ms" },
	{ "l>x", "for the field 'l': expected a number or a size such as 64k" },
	{ "n=4", "unknown field 'n' of test.Everything: choose from startTime, duration, z, b" },
};

START_TEST(bad_filter_is_refused)
{
	struct err err = { .code = EXIT_DONE };
	char *out;

	add_chunk(NULL, 2);
	ck_assert_int_eq(view(bad_filters[_i].filter, false, &out, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	ck_assert_msg(strstr(err.text, bad_filters[_i].error), "%s", err.text);
	ck_assert_str_eq(out, "");
	free(out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cmd/jfr/jfr_view_type");
	TCase *tc = tcase_create("cmd/jfr/jfr_view_type");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, document_is_complete_after_a_late_error);
	tcase_add_test(tc, nothing_is_printed_after_an_early_error);
	tcase_add_test(tc, names_in_a_recording_are_escaped);
	tcase_add_loop_test(tc, filter_compares_by_the_type_of_the_field, 0, ARRAY_SIZE(filters));
	tcase_add_loop_test(tc, bad_filter_is_refused, 0, ARRAY_SIZE(bad_filters));
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
