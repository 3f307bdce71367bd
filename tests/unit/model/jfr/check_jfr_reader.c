/* Flight recordings: chunks, metadata, constants, events and values; queries on them. */
#include <check.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_names.h"
#include "model/jfr/query/jfr_views.h"
#include "render/jfr/jfr_event_json.h"
#include "render/jfr/jfr_table.h"
#include "unit/support/jfr_profile_writer.h"

struct result {
	unsigned chunks, samples, everything, others;
	int rc;
	struct err err;
	struct buf problems, json;
};

static void read_file(struct buf *file, struct result *out)
{
	struct jfr_reader *r = jfr_reader_new(w_read, file, file->len, 64u << 20);
	struct jfr_event e;

	*out = (struct result){ .problems = BUF_INIT, .json = BUF_INIT };
	while ((out->rc = jfr_next_chunk(r, &out->err)) > 0) {
		out->chunks++;
		while (jfr_next_event(r, &e)) {
			struct json *object = json_object();

			if (e.type && e.type->is_event) {
				jfr_event_put(&e, object);
				json_add(&out->json, object);
				buf_addc(&out->json, '\n');
			}
			json_free(object);
			out->samples += e.type_id == T_SAMPLE;
			out->everything += e.type_id == T_EVERYTHING;
			out->others += e.type_id < 2;
		}
	}
	buf_adds(&out->problems, jfr_problems(r));
	jfr_reader_free(r);
}

static void release(struct result *r)
{
	buf_release(&r->problems);
	buf_release(&r->json);
}

static const char sample_json[] =
	"{\"startTime\":\"2023-11-14T22:13:20.000001000Z\","
	"\"sampledThread\":{\"osName\":\"os\",\"javaName\":\"main\"},"
	"\"stackTrace\":{\"truncated\":true,\"frames\":["
	"{\"method\":{\"type\":{\"name\":\"a.b.C\"},\"name\":\"run\","
	"\"descriptor\":\"(I[Ljava/lang/String;)V\"},\"lineNumber\":42},"
	"{\"method\":{\"type\":{\"name\":\"a.b.C\"},\"name\":\"run\","
	"\"descriptor\":\"(I[Ljava/lang/String;)V\"},\"lineNumber\":43}]}}\n"
	"{\"startTime\":\"2023-11-14T22:13:20.000001500Z\","
	"\"sampledThread\":{\"osName\":\"os\",\"javaName\":\"main\"},\"stackTrace\":null}\n"
	"{\"startTime\":\"2023-11-14T22:13:20.000002000Z\",\"duration\":5e-07,\"z\":true,"
	"\"b\":-2,\"ub\":254,\"c\":\"\303\251\",\"s\":-3,\"i\":-4,\"l\":-5,\"f\":1.5,\"d\":-2.5,"
	"\"text\":\"pooled\",\"ints\":[1000,2000,3000],"
	"\"thread\":{\"osName\":\"inline\",\"javaName\":null}}\n";

static const struct {
	unsigned major;
	bool fixed;
} formats[] = { { 2, false }, { 1, false }, { 2, true } };

START_TEST(every_kind_of_value_is_read)
{
	struct jfr_writer w = { .major = formats[_i].major, .fixed = formats[_i].fixed };
	struct result r;

	w_chunk(&w);
	read_file(&w.file, &r);
	ck_assert_int_eq(r.rc, 0);
	ck_assert_uint_eq(r.chunks, 1);
	ck_assert_uint_eq(r.samples, 2);
	ck_assert_uint_eq(r.others, 3);
	ck_assert_str_eq(buf_str(&r.problems), "");
	ck_assert_str_eq(buf_str(&r.json), sample_json);
	release(&r);
	w_release(&w);
}
END_TEST

static const struct {
	const char *bytes;
	size_t len;
	const char *json; /* NULL: the event is damaged */
} strings[] = {
	{ "\0", 1, "null" },
	{ "\1", 1, "\"\"" },
	{ "\3\5gr\303\274n", 7, "\"gr\303\274n\"" },
	{ "\4\3g\374\1\254\101", 6, NULL },
	{ "\4\2\254\101\101", 5, "\"\342\202\254A\"" },
	{ "\4\2\275\260\003\200\274\003", 8, "\"\360\237\230\200\"" },
	{ "\5\3\351a\344", 5, "\"\303\251a\303\244\"" },
	{ "\2\143", 2, "null" },
	{ "\6\1a", 3, NULL },
	{ "\3\177a", 3, NULL },
	{ "\5\377\377\377\377\017", 6, NULL },
};

START_TEST(strings_are_decoded)
{
	struct jfr_writer w = { .major = 2 };
	struct result r;
	char wanted[64];
	size_t metadata, constants;

	w_begin_chunk(&w);
	metadata = w_metadata(&w);
	constants = w_constants(&w);
	w_everything(&w, strings[_i].bytes, strings[_i].len);
	w_end_chunk(&w, metadata, constants);
	read_file(&w.file, &r);
	ck_assert_int_eq(r.rc, 0);
	ck_assert_uint_eq(r.everything, 1);
	(void)snprintf(wanted, sizeof(wanted), "\"text\":%s,",
		       strings[_i].json ? strings[_i].json : "null");
	if (strings[_i].json)
		ck_assert_msg(strstr(buf_str(&r.json), wanted), "%s", buf_str(&r.json));
	release(&r);
	w_release(&w);
}
END_TEST

START_TEST(recording_cut_at_every_byte_gives_complete_events_and_a_problem)
{
	struct jfr_writer w = { .major = 2 };
	unsigned last = 0;
	size_t first_chunk;

	w_chunk(&w);
	first_chunk = w.file.len;
	w_chunk(&w);
	for (size_t len = 0; len <= w.file.len; len++) {
		struct buf cut = BUF_INIT;
		struct result r;

		buf_add(&cut, w.file.data, len);
		read_file(&cut, &r);
		ck_assert_int_eq(r.rc, len < 68 ? -1 : 0);
		ck_assert_uint_ge(r.samples + r.everything, last);
		ck_assert_uint_le(r.samples + r.everything, 6);
		last = r.samples + r.everything;
		if (len >= 68 && len != first_chunk && len != w.file.len)
			ck_assert_str_ne(buf_str(&r.problems), "");
		release(&r);
		buf_release(&cut);
	}
	ck_assert_uint_eq(last, 6);
	w_release(&w);
}
END_TEST

START_TEST(recording_with_any_byte_changed_is_read_without_harm)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff, 0x7f };
	struct jfr_writer w = { .major = 2 };

	w_chunk(&w);
	for (size_t i = 0; i < w.file.len; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(masks); j++) {
			struct result r;

			w.file.data[i] = (char)(w.file.data[i] ^ masks[j]);
			read_file(&w.file, &r);
			ck_assert_uint_le(r.samples + r.everything, 3);
			release(&r);
			w.file.data[i] = (char)(w.file.data[i] ^ masks[j]);
		}
	}
	w_release(&w);
}
END_TEST

START_TEST(chunk_being_written_is_read_without_its_header)
{
	struct jfr_writer w = { .major = 2 };
	struct result r;

	w_chunk(&w);
	w_patch(&w, 8, 0, 8);
	w_patch(&w, 16, 0, 8);
	w_patch(&w, 24, 0, 8);
	read_file(&w.file, &r);
	ck_assert_uint_eq(r.samples, 2);
	ck_assert_ptr_nonnull(strstr(buf_str(&r.problems), "still writing"));
	ck_assert_str_eq(buf_str(&r.json), sample_json);
	release(&r);
	w_release(&w);
}
END_TEST

START_TEST(chunk_with_a_generation_is_read_up_to_its_size)
{
	struct jfr_writer w = { .major = 2 };
	struct result r;

	w_chunk(&w);
	w_patch(&w, 64, 3, 1);
	buf_adds(&w.file, "not complete");
	read_file(&w.file, &r);
	ck_assert_uint_eq(r.samples, 2);
	ck_assert_uint_eq(r.everything, 1);
	ck_assert_ptr_nonnull(strstr(buf_str(&r.problems), "still writing"));
	release(&r);
	w_release(&w);
}
END_TEST

START_TEST(chunk_without_metadata_is_named_and_the_next_one_read)
{
	struct jfr_writer w = { .major = 2 };
	struct result r;

	w_begin_chunk(&w);
	w_sample(&w, 2000, 11);
	w_patch(&w, 8, w.file.len, 8);
	w_chunk(&w);
	read_file(&w.file, &r);
	ck_assert_uint_eq(r.samples, 2);
	ck_assert_ptr_nonnull(strstr(buf_str(&r.problems), "chunk 1, byte 0: no description"));
	release(&r);
	w_release(&w);
}
END_TEST

/* Writes a chunk with the default types, or with `other` types that have some of their ids. */
static void add_chunk(struct jfr_writer *w, bool other)
{
	size_t metadata, constants;

	w->types = other ? p_types : NULL;
	if (!other) {
		w_chunk(w);
		return;
	}
	w_begin_chunk(w);
	metadata = w_metadata(w);
	constants = p_constants(w);
	w_end_chunk(w, metadata, constants);
}

START_TEST(each_chunk_has_its_own_types)
{
	static const bool others[] = { false, false, true, true, false };
	struct jfr_writer w = { .major = 2 };
	struct err err = { .code = EXIT_DONE };
	struct jfr_reader *r;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		add_chunk(&w, others[i]);
	r = jfr_reader_new(w_read, &w.file, w.file.len, 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const struct jfr_metadata *m;

		ck_assert_int_eq(jfr_next_chunk(r, &err), 1);
		m = &jfr_chunk_of(r)->metadata;
		ck_assert_int_eq(jfr_type_by_id(m, T_SAMPLE) != NULL, !others[i]);
		ck_assert_int_eq(jfr_type_by_name(m, "jdk.CPUTimeSample") != NULL, others[i]);
		for (size_t k = 0; k < m->n; k++) {
			ck_assert_uint_eq(m->types[k].user, 0);
			ck_assert(!m->types[k].is_skipped);
			m->types[k].user = 1;
			m->types[k].is_skipped = true;
		}
	}
	ck_assert_int_eq(jfr_next_chunk(r, &err), 0);
	ck_assert_str_eq(jfr_problems(r), "");
	jfr_reader_free(r);
	w_release(&w);
}
END_TEST

START_TEST(broken_chain_of_constants_is_named_and_found_by_a_scan)
{
	struct jfr_writer w = { .major = 2 };
	struct result r;

	w_chunk(&w);
	w_patch(&w, 16, 69, 8);
	read_file(&w.file, &r);
	ck_assert_ptr_nonnull(strstr(buf_str(&r.problems), "chain of constants"));
	ck_assert_str_eq(buf_str(&r.json), sample_json);
	release(&r);
	w_release(&w);
}
END_TEST

START_TEST(memory_limit_ends_the_reading)
{
	struct jfr_writer w = { .major = 2 };
	struct err err = { .code = EXIT_DONE };
	struct jfr_reader *r;

	w_chunk(&w);
	r = jfr_reader_new(w_read, &w.file, w.file.len, w.file.len);
	ck_assert_int_eq(jfr_next_chunk(r, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_ptr_nonnull(strstr(err.text, "--max-memory"));
	jfr_reader_free(r);
	w_release(&w);
}
END_TEST

START_TEST(times_beyond_64_bits_become_the_nearest_time)
{
	const struct jfr_chunk c = {
		.ticks_per_second = 1000, .base_ns = 5000000000, .base_ticks = 3000,
	};

	ck_assert_int_eq(jfr_ticks_to_epoch(&c, 4000), 6000000000);
	ck_assert_int_eq(jfr_ticks_to_epoch(&c, 1000), 3000000000);
	ck_assert_int_eq(jfr_ticks_to_epoch(&c, INT64_MAX), INT64_MAX);
	ck_assert_int_eq(jfr_ticks_to_epoch(&c, INT64_MIN), INT64_MIN);
	ck_assert_int_eq(jfr_ticks_to_nanos(&c, INT64_MAX), INT64_MAX);
	ck_assert_int_eq(jfr_ticks_to_nanos(&c, INT64_MIN), INT64_MIN);
}
END_TEST

/* Writes an event with a text of 1000 bytes that differs from event to event. */
static void add_text_event(struct jfr_writer *w, unsigned i)
{
	struct buf text = BUF_INIT;

	buf_addc(&text, 3); /* UTF-8 */
	w_int(w, &text, 1000);
	buf_addf(&text, "%01000u", i);
	w_everything(w, text.data, text.len);
	buf_release(&text);
}

#define KEYS_MAX 20000

static void add_events(struct jfr_writer *w, bool texts)
{
	size_t metadata, constants;

	w_begin_chunk(w);
	metadata = w_metadata(w);
	constants = w_constants(w);
	for (unsigned i = 0; texts && i < 1000; i++)
		add_text_event(w, i);
	for (int64_t i = 0; !texts && i < KEYS_MAX; i++)
		w_sample(w, 2000, 100 + i);
	w_end_chunk(w, metadata, constants);
}

/* The query has one row; but the texts, or the keys of constants, of all events take 1 MB. */
START_TEST(texts_and_keys_of_a_query_count_as_its_memory)
{
	static const char *const paths[] = { "text", "stackTrace" };
	const struct jfr_query query = {
		.name = "test", .is_form = true, .sources = &(struct jfr_query_source){ 0 },
		.n_sources = 1,
		.columns = &(struct jfr_query_column){ "value", paths[_i], JFR_ANY, false },
		.n_columns = 1,
	};
	struct jfr_writer w = { .major = 2 };

	add_events(&w, _i == 0);
	for (size_t mb = 1; mb <= 4; mb += 3) {
		struct jfr_queries *q = jfr_queries_new(mb * 1000000);
		struct jfr_reader *r = jfr_reader_new(w_read, &w.file, w.file.len, 0);
		struct err err = { .code = EXIT_DONE };

		(void)jfr_queries_add(q, &query);
		ck_assert_int_eq(jfr_queries_run(q, r, INT64_MIN, &err), mb == 1 ? -1 : 0);
		ck_assert_int_eq(err.code, mb == 1 ? EXIT_PARTIAL : EXIT_DONE);
		jfr_queries_free(q);
		jfr_reader_free(r);
	}
	w_release(&w);
}
END_TEST

START_TEST(other_files_are_refused)
{
	struct buf file = BUF_INIT;
	struct result r;

	buf_adds(&file, "JAVA PROFILE 1.0.2 and so on, which is long enough for a chunk's header");
	read_file(&file, &r);
	ck_assert_int_eq(r.rc, -1);
	ck_assert_int_eq(r.err.code, EXIT_USAGE);
	release(&r);
	buf_release(&file);
}
END_TEST

static const struct jfr_query *find_view(const char *name)
{
	struct err err = { .code = EXIT_DONE };

	ck_assert_msg(jfr_views_load(&err) == 0, "%s", err.text);
	return jfr_view_find(name);
}

START_TEST(hottest_methods_are_counted_over_chunks)
{
	const struct jfr_query *view = find_view("hot-methods");
	struct jfr_queries *q = jfr_queries_new(0);
	struct jfr_query_run *run = jfr_queries_add(q, view);
	struct jfr_writer w = { .major = 2 };
	struct err err = { .code = EXIT_DONE };
	struct buf text = BUF_INIT;
	struct jfr_reader *r;

	w_chunk(&w);
	w_chunk(&w);
	r = jfr_reader_new(w_read, &w.file, w.file.len, 0);
	ck_assert_int_eq(jfr_queries_run(q, r, INT64_MIN, &err), 0);
	ck_assert_uint_eq(jfr_query_rows(run), 2);
	jfr_table_add(view, run, 2, true, &text);
	ck_assert_str_eq(buf_str(&text),
			 "METHOD                    SAMPLES  PERCENT %\n"
			 "a.b.C.run(int, String[])        2       50.0\n"
			 "-                               2       50.0\n");
	ck_assert_uint_eq(jfr_queries_extent(q)->events, 6);
	buf_release(&text);
	jfr_queries_free(q);
	jfr_reader_free(r);
	w_release(&w);
}
END_TEST

static void real_span_type(struct jfr_writer *w)
{
	w_begin_types(w, 1);
	ELEMENT(w, "class", 2, "name", "test.Real", "id", "100", "superType", "jdk.jfr.Event");
	w_start_fields(w);
	ELEMENT(w, "field", 1, "name", "span", "class", "28");
	ELEMENT(w, "annotation", 0, "class", "36", "value", "NANOSECONDS");
	w_end_types(w);
}

START_TEST(real_time_span_is_shown_in_a_table)
{
	const struct jfr_query query = {
		.name = "test", .sources = &(struct jfr_query_source){ .event = "test.Real" },
		.n_sources = 1,
		.columns = &(struct jfr_query_column){ "span", "span", JFR_ANY, false },
		.n_columns = 1,
	};
	struct jfr_queries *q = jfr_queries_new(0);
	struct jfr_query_run *run = jfr_queries_add(q, &query);
	struct jfr_writer w = { .major = 2, .types = real_span_type };
	struct buf event = BUF_INIT, text = BUF_INIT;
	struct err err = { .code = EXIT_DONE };
	size_t metadata, constants;
	struct jfr_reader *r;

	w_begin_chunk(&w);
	metadata = w_metadata(&w);
	constants = w_constants(&w);
	w_long(&w, &event, 2000);
	w_raw(&event, UINT64_C(0x4137d78400000000), 8); /* 1562500.0 */
	w_event(&w, T_SAMPLE, &event);
	w_end_chunk(&w, metadata, constants);
	r = jfr_reader_new(w_read, &w.file, w.file.len, 0);
	ck_assert_int_eq(jfr_queries_run(q, r, INT64_MIN, &err), 0);
	jfr_table_add(&query, run, 1, true, &text);
	ck_assert_str_eq(buf_str(&text), "SPAN\n1.56 ms\n");
	buf_release(&event);
	buf_release(&text);
	jfr_queries_free(q);
	jfr_reader_free(r);
	w_release(&w);
}
END_TEST

START_TEST(views_have_names_and_valid_columns)
{
	const struct jfr_query *view = find_view("nothing");
	size_t n = 0;

	ck_assert_ptr_null(view);
	for (; (view = jfr_view_at(n)); n++) {
		ck_assert_ptr_eq(jfr_view_find(view->name), view);
		ck_assert_uint_gt(view->n_columns, 0);
		for (size_t i = 0; i < 2; i++) {
			int column = view->order[i] < 0 ? -view->order[i] : view->order[i];

			ck_assert_uint_le((size_t)column, view->n_columns);
		}
	}
	ck_assert_uint_gt(n, 70);
	ck_assert_ptr_eq(jfr_view_find("exceptions-by-type"), jfr_view_find("exception-by-type"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/jfr_reader");
	TCase *t = tcase_create("model/jfr/jfr_reader");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, every_kind_of_value_is_read, 0, ARRAY_SIZE(formats));
	tcase_add_loop_test(t, strings_are_decoded, 0, ARRAY_SIZE(strings));
	tcase_add_test(t, recording_cut_at_every_byte_gives_complete_events_and_a_problem);
	tcase_add_test(t, recording_with_any_byte_changed_is_read_without_harm);
	tcase_add_test(t, chunk_being_written_is_read_without_its_header);
	tcase_add_test(t, chunk_with_a_generation_is_read_up_to_its_size);
	tcase_add_test(t, chunk_without_metadata_is_named_and_the_next_one_read);
	tcase_add_test(t, each_chunk_has_its_own_types);
	tcase_add_test(t, broken_chain_of_constants_is_named_and_found_by_a_scan);
	tcase_add_test(t, memory_limit_ends_the_reading);
	tcase_add_test(t, times_beyond_64_bits_become_the_nearest_time);
	tcase_add_loop_test(t, texts_and_keys_of_a_query_count_as_its_memory, 0, 2);
	tcase_add_test(t, other_files_are_refused);
	tcase_add_test(t, hottest_methods_are_counted_over_chunks);
	tcase_add_test(t, real_time_span_is_shown_in_a_table);
	tcase_add_test(t, views_have_names_and_valid_columns);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
