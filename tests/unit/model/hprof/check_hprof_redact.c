/* Redacting heap dumps: removed and retained data, chunks of any size, inconsistent dumps. */
#include <check.h>
#include <string.h>

#include "unit/support/hprof_writer.h"
#include "model/hprof/hprof_redact.h"

enum {
	OBJECT = 0x1000,
	STRING = 0x1100,
	CHUNK = 0x1200,
	ACCOUNT = 0x1300,
	SAVINGS = 0x1400,
	ACCOUNTS = 0x1500,
};

#define MEMORY (1u << 20)

/* Secrets of the dump: tests count how often each one occurs before and after the redaction. */
#define LITERAL "literal secret"
#define BYTES "bytes\xff secret"
#define NUMBER 0x5a5b5c5d
#define WIDE 0x6a6b6c6d6e6f6061

static void put_names(struct hprof_writer *m)
{
	static const char *const symbols[] = { "value",   "hash", "size",  "hashCode", "balance",
					       "limit", "rate", "owner", "run",      "()V" };

	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		put_symbol(m, symbols[i]);
	put_symbol(m, LITERAL);
	put_symbol(m, "");
	put_loaded(m, 1, OBJECT, "java/lang/Object");
	put_loaded(m, 2, STRING, "java/lang/String");
	put_loaded(m, 3, CHUNK, "jdk/internal/vm/StackChunk");
	put_loaded(m, 4, ACCOUNT, "a/b/Account");
	put_loaded(m, 5, SAVINGS, "a/b/Savings");
	put_loaded(m, 6, ACCOUNTS, "[La/b/Account;");
	put_symbol(m, LITERAL " again");
}

static void put_stack(struct hprof_writer *m)
{
	begin(m, 0x04);
	put_id(m, 77);
	put_id(m, symbol("run"));
	put_id(m, symbol("()V"));
	put_id(m, 0);
	put(m, 4, 4);
	put(m, 12, 4);
	end(m);
	begin(m, 0x05);
	put(m, 2, 4);
	put(m, 1, 4);
	put(m, 1, 4);
	put_id(m, 77);
	end(m);
}

static void put_classes(struct hprof_writer *m)
{
	static const struct field_spec string[] = { { "value", 2, 0 }, { "hash", 10, 0 } };
	static const struct field_spec chunk[] = { { "size", 10, 0 }, { "limit", 10, 0 } };
	static const struct field_spec account[] = { { "balance", 11, 0 }, { "owner", 2, 0 },
						     { "hashCode", 10, 0 } };
	static const struct field_spec savings[] = { { "rate", 6, 0 }, { "size", 10, 0 } };
	static const struct field_spec statics[] = { { "limit", 10, NUMBER },
						     { "owner", 2, 0x7000 },
						     { "rate", 9, 0x5a5b } };

	put_class(m, OBJECT, 0, 0, NULL, 0, NULL, 0);
	put_class(m, STRING, OBJECT, 0, NULL, 0, string, 2);
	put_class(m, CHUNK, OBJECT, 0, NULL, 0, chunk, 2);
	put_class(m, SAVINGS, ACCOUNT, 0, NULL, 0, savings, 2); /* before its superclass */
	put_class(m, ACCOUNT, OBJECT, 0, statics, 3, account, 3);
	put_class(m, ACCOUNTS, OBJECT, 0, NULL, 0, NULL, 0);
}

/* Writes a root of each kind.  ids[tag] counts its identifiers, words[tag] its u4 values. */
static void put_roots(struct hprof_writer *m)
{
	static const uint8_t ids[] = { 0, 2, 1, 1, 1, 1, 1, 1, 1 };
	static const uint8_t words[] = { 0, 0, 2, 2, 1, 0, 1, 0, 2 };

	for (unsigned tag = 1; tag < ARRAY_SIZE(ids); tag++) {
		put(m, tag, 1);
		for (unsigned i = 0; i < ids[tag]; i++)
			put_id(m, 0x7000 + i);
		for (unsigned i = 0; i < words[tag]; i++)
			put(m, i + 1, 4);
	}
	put(m, 0xff, 1);
	put_id(m, 0x7000);
}

static void put_objects(struct hprof_writer *m)
{
	put_instance(m, 0x7000, SAVINGS, 8 + m->id + 12);
	put(m, 0x3f800000, 4);
	put(m, NUMBER, 4); /* a field "size" of another class */
	put(m, WIDE, 8);
	put_id(m, 0x7100);
	put(m, NUMBER, 4); /* hashCode */
	put_instance(m, 0x7100, STRING, m->id + 4);
	put_id(m, 0x7200);
	put(m, NUMBER, 4); /* hash */
	put_bytes(m, 0x7200, BYTES);
	put_instance(m, 0x7300, CHUNK, 8);
	put(m, 0x11223344, 4); /* size */
	put(m, NUMBER, 4);
	put_instance(m, 0x7400, OBJECT, 0);
	put_array(m, 0x7500, ACCOUNTS, 2);
	put_id(m, 0x7000);
	put_id(m, 0);
	for (unsigned type = 4; type < 12; type++) {
		put(m, 0x23, 1);
		put_id(m, 0x7600 + type);
		put(m, 1, 4);
		put(m, 2, 4);
		put(m, type, 1);
		put(m, WIDE, type_size(m, type));
		put(m, WIDE, type_size(m, type));
	}
	put_bytes(m, 0x7800, "");
}

static struct hprof_writer make(unsigned id)
{
	struct hprof_writer m = { BUF_INIT, id, 0 };

	put_head(&m);
	put_names(&m);
	put_stack(&m);
	begin(&m, 0x0a); /* START THREAD, not written by HotSpot; the thread's name is a symbol */
	put(&m, 1, 4);
	put_id(&m, 0x7000);
	put(&m, 1, 4);
	for (int i = 0; i < 3; i++)
		put_id(&m, symbol(LITERAL));
	end(&m);
	begin(&m, 0x07); /* a summary */
	put(&m, WIDE, 8);
	put(&m, WIDE, 8);
	end(&m);
	begin(&m, 0x1c);
	put_classes(&m);
	put_roots(&m);
	end(&m);
	begin(&m, 0x1c); /* an empty segment */
	end(&m);
	begin(&m, 0x1c);
	put_objects(&m);
	end(&m);
	put_symbol(&m, LITERAL " late");
	begin(&m, 0x2c);
	end(&m);
	return m;
}

static int append(void *arg, const uint8_t *data, size_t len, struct err *err)
{
	(void)err;
	buf_add(arg, data, len);
	return 0;
}

/* Redacts `len` bytes in pieces.  Returns 0 or -1; *out gets the redacted bytes. */
static int redact(const struct buf *in, size_t len, enum hprof_redact what, size_t piece,
		  size_t memory, struct buf *out, struct err *err)
{
	struct hprof_redactor *r = hprof_redactor_new(what, memory, append, out);
	uint8_t *copy = malloc(piece);
	int rc = 0;

	ck_assert_ptr_nonnull(copy);
	for (size_t at = 0; at < len && rc == 0; at += piece) {
		const size_t n = len - at < piece ? len - at : piece;

		memcpy(copy, in->data + at, n);
		rc = hprof_redactor_take(r, copy, n, err);
	}
	if (rc == 0)
		rc = hprof_redactor_end(r, err);
	free(copy);
	hprof_redactor_free(r);
	return rc;
}

static struct buf redacted(const struct buf *in, enum hprof_redact what, size_t piece)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	ck_assert_msg(redact(in, in->len, what, piece, MEMORY, &out, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(out.len, in->len);
	return out;
}

static unsigned count(const struct buf *b, const void *data, size_t len)
{
	const char *at = b->data;
	unsigned n = 0;

	if (!at)
		return 0;
	while ((at = memmem(at, (size_t)(b->data + b->len - at), data, len)) != NULL) {
		n++;
		at++;
	}
	return n;
}

static unsigned count_number(const struct buf *b, uint64_t value, unsigned bytes)
{
	struct hprof_writer m = { BUF_INIT, 8, 0 };
	unsigned n;

	put(&m, value, bytes);
	n = count(b, m.out.data, bytes);
	buf_release(&m.out);
	return n;
}

static const unsigned id_sizes[] = { 4, 8 };

START_TEST(strings_are_removed)
{
	struct hprof_writer m = make(id_sizes[_i]);
	struct buf out = redacted(&m.out, HPROF_REDACT_STRINGS, m.out.len);

	ck_assert_uint_eq(count(&m.out, BYTES, strlen(BYTES)), 1);
	ck_assert_uint_eq(count(&out, BYTES, strlen(BYTES)), 0);
	ck_assert_uint_eq(count(&m.out, LITERAL, strlen(LITERAL)), 3);
	ck_assert_uint_eq(count(&out, LITERAL, strlen(LITERAL)), 0);
	/* Of NUMBER: the static field, "size" and "limit" remain, the hash codes do not. */
	ck_assert_uint_eq(count_number(&m.out, NUMBER, 4), 5);
	ck_assert_uint_eq(count_number(&out, NUMBER, 4), 3);
	/* WIDE: in a field, double[] and long[]; its last two bytes also in char[] and short[]. */
	ck_assert_uint_eq(count_number(&out, WIDE, 8), 5);
	ck_assert_uint_eq(count_number(&out, 0x60616061, 4), 1);
	ck_assert_uint_eq(count_number(&m.out, 0x60616061, 4), 2);
	buf_release(&out);
	buf_release(&m.out);
}
END_TEST

START_TEST(all_values_are_removed)
{
	struct hprof_writer m = make(id_sizes[_i]);
	struct buf out = redacted(&m.out, HPROF_REDACT_ALL, m.out.len);

	ck_assert_uint_eq(count(&out, "secret", 6), 0);
	ck_assert_uint_eq(count_number(&out, NUMBER, 4), 0);
	ck_assert_uint_eq(count_number(&out, 0x6061, 2), 0);
	ck_assert_uint_eq(count_number(&out, 0x5a5b, 2), 0);
	ck_assert_uint_eq(count_number(&out, 0x3f800000, 4), 0);
	buf_release(&out);
	buf_release(&m.out);
}
END_TEST

START_TEST(names_and_references_remain)
{
	static const char *const names[] = { "value",   "hash", "hashCode", "size",
					     "balance", "run",  "()V",      "a/b/Savings",
					     "[La/b/Account;" };
	struct hprof_writer m = make(id_sizes[_i]);
	struct buf out = redacted(&m.out, HPROF_REDACT_ALL, m.out.len);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_uint_eq(count(&out, names[i], strlen(names[i])),
				  count(&m.out, names[i], strlen(names[i])));
	for (uint64_t id = 0x7000; id < 0x7900; id += 0x100)
		ck_assert_uint_eq(count_number(&out, id, m.id), count_number(&m.out, id, m.id));
	ck_assert_uint_eq(count_number(&out, 0x11223344, 4), 1); /* the size of a StackChunk */
	buf_release(&out);
	buf_release(&m.out);
}
END_TEST

START_TEST(only_zeros_are_written)
{
	struct hprof_writer m = make(id_sizes[_i % 2]);
	struct buf out = redacted(&m.out, 1 + _i / 2, m.out.len), again;

	for (size_t i = 0; i < out.len; i++)
		ck_assert(out.data[i] == m.out.data[i] || out.data[i] == 0);
	again = redacted(&out, 1 + _i / 2, m.out.len);
	ck_assert_mem_eq(again.data, out.data, out.len);
	buf_release(&again);
	buf_release(&out);
	buf_release(&m.out);
}
END_TEST

START_TEST(pieces_of_any_size_give_the_same)
{
	struct hprof_writer m = make(id_sizes[_i % 2]);
	struct buf whole = redacted(&m.out, 1 + _i / 2, m.out.len);

	for (size_t piece = 1; piece <= m.out.len; piece++) {
		struct buf out = redacted(&m.out, 1 + _i / 2, piece);

		ck_assert_mem_eq(out.data, whole.data, whole.len);
		buf_release(&out);
	}
	buf_release(&whole);
	buf_release(&m.out);
}
END_TEST

/* The output for the bytes before the cut is redacted, too. */
START_TEST(a_dump_that_is_cut_is_refused)
{
	struct hprof_writer m = make(id_sizes[_i % 2]);
	struct buf whole = redacted(&m.out, 1 + _i / 2, m.out.len);

	for (size_t len = 0; len < m.out.len; len++) {
		struct buf out = BUF_INIT;
		struct err err = { 0 };

		ck_assert_int_eq(redact(&m.out, len, 1 + _i / 2, 7, MEMORY, &out, &err), -1);
		ck_assert_int_eq(err.code, EXIT_PARTIAL);
		ck_assert(out.len <= len);
		ck_assert(out.len == 0 || memcmp(out.data, whole.data, out.len) == 0);
		buf_release(&out);
	}
	buf_release(&whole);
	buf_release(&m.out);
}
END_TEST

/* HotSpot also dumps symbols that are not used any more, and one can have the text of another. */
START_TEST(a_second_symbol_with_the_same_text_changes_nothing)
{
	static const char *const texts[] = { "hash", "hashCode", "size",
					     "jdk/internal/vm/StackChunk" };
	struct hprof_writer m = { BUF_INIT, 8, 0 };
	struct buf out;

	put_head(&m);
	put_names(&m);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		begin(&m, 0x01);
		put_id(&m, 0x8000 + i);
		buf_adds(&m.out, texts[i]);
		end(&m);
	}
	begin(&m, 0x1c);
	put_classes(&m);
	put_objects(&m);
	end(&m);
	begin(&m, 0x2c);
	end(&m);
	out = redacted(&m.out, HPROF_REDACT_STRINGS + _i, 5);
	if (_i == 0)
		ck_assert_uint_eq(count_number(&out, NUMBER, 4), 3);
	else
		ck_assert_uint_eq(count_number(&out, 0x11223344, 4), 1);
	buf_release(&out);
	buf_release(&m.out);
}
END_TEST

/* The dump of JDK 5 and of jmap -F: one record without segments, which has no end. */
START_TEST(format_1_0_1_is_redacted)
{
	struct hprof_writer m = { BUF_INIT, 8, 0 };
	struct buf out;

	put_head(&m);
	m.out.data[17] = '1';
	put_names(&m);
	begin(&m, 0x0c);
	put_classes(&m);
	put_objects(&m);
	end(&m);
	out = redacted(&m.out, HPROF_REDACT_ALL, 5);
	ck_assert_uint_eq(count(&out, "secret", 6), 0);
	buf_release(&out);
	buf_release(&m.out);
}
END_TEST

START_TEST(a_dump_without_objects_is_redacted)
{
	struct hprof_writer m = { BUF_INIT, 8, 0 };
	struct buf out;

	put_head(&m);
	put_names(&m);
	begin(&m, 0x1c);
	end(&m);
	begin(&m, 0x2c);
	end(&m);
	out = redacted(&m.out, HPROF_REDACT_STRINGS, 5);
	ck_assert_uint_eq(count(&out, "secret", 6), 0);
	ck_assert_uint_eq(count(&out, "a/b/Savings", 11), 1);
	buf_release(&out);
	buf_release(&m.out);
}
END_TEST

/* Checks that the dump, which has one defect, is refused with an error that contains `text`. */
static void refused(struct hprof_writer *m, const char *text)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	ck_assert_int_eq(redact(&m->out, m->out.len, HPROF_REDACT_ALL, 5, MEMORY, &out, &err), -1);
	ck_assert_msg(strstr(err.text, text), "%s", err.text);
	ck_assert_uint_eq(count(&out, "secret", 6), 0);
	ck_assert_uint_eq(count_number(&out, NUMBER, 4), 0);
	buf_release(&out);
	buf_release(&m->out);
}

static struct hprof_writer begun(void)
{
	struct hprof_writer m = { BUF_INIT, 8, 0 };

	put_head(&m);
	put_names(&m);
	begin(&m, 0x1c);
	put_classes(&m);
	return m;
}

START_TEST(an_instance_of_an_unknown_class_is_refused)
{
	struct hprof_writer m = begun();

	put_instance(&m, 0x7000, 0x9999, 4);
	put(&m, NUMBER, 4);
	end(&m);
	refused(&m, "class of an instance");
}
END_TEST

START_TEST(an_instance_without_superclass_is_refused)
{
	static const struct field_spec fields[] = { { "limit", 10, 0 } };
	struct hprof_writer m = begun();

	put_class(&m, 0x9000, 0x9999, 0, NULL, 0, fields, 1);
	put_instance(&m, 0x7000, 0x9000, 4);
	put(&m, NUMBER, 4);
	end(&m);
	refused(&m, "superclass");
}
END_TEST

START_TEST(circular_superclasses_are_refused)
{
	struct hprof_writer m = begun();

	put_class(&m, 0x9000, 0x9100, 0, NULL, 0, NULL, 0);
	put_class(&m, 0x9100, 0x9000, 0, NULL, 0, NULL, 0);
	put_instance(&m, 0x7000, 0x9000, 0);
	end(&m);
	refused(&m, "its own superclass");
}
END_TEST

START_TEST(instances_of_another_length_are_refused)
{
	struct hprof_writer m = begun();

	put_instance(&m, 0x7000, CHUNK, _i ? 7 : 9);
	put(&m, NUMBER, 4);
	put(&m, NUMBER, 4);
	put(&m, 0, 1);
	end(&m);
	refused(&m, "does not match");
}
END_TEST

START_TEST(a_class_that_is_defined_twice_is_refused)
{
	struct hprof_writer m = begun();

	put_class(&m, ACCOUNT, OBJECT, 0, NULL, 0, NULL, 0);
	end(&m);
	refused(&m, "twice");
}
END_TEST

START_TEST(unknown_tags_and_types_are_refused)
{
	struct hprof_writer m = begun();

	if (_i == 0) {
		put(&m, 0x89, 1); /* a root of Android */
		put_id(&m, 0x7000);
	} else if (_i == 1) {
		put(&m, 0x23, 1);
		put_id(&m, 0x7000);
		put(&m, 1, 4);
		put(&m, 1, 4);
		put(&m, 13, 1);
		put(&m, NUMBER, 4);
	} else if (_i == 2) {
		const struct field_spec field = { "limit", 3, 0 };

		put_class(&m, 0x9000, OBJECT, 0, NULL, 0, &field, 1);
	}
	end(&m);
	if (_i == 3) {
		begin(&m, 0x30);
		put(&m, NUMBER, 4);
		end(&m);
	}
	refused(&m, "unknown");
}
END_TEST

START_TEST(wrong_lengths_are_refused)
{
	struct hprof_writer m = begun();

	if (_i == 0) /* a segment ends within a record */
		put(&m, 0x21, 1);
	if (_i == 1) { /* an array is longer than its segment */
		put_array(&m, 0x7000, ACCOUNTS, 0xffffffff);
		put(&m, NUMBER, 4);
	}
	end(&m);
	if (_i >= 2) { /* a LOAD CLASS that is too short, or too long */
		begin(&m, 0x02);
		for (int i = 0; i < (_i == 2 ? 5 : 7); i++)
			put(&m, NUMBER, 4);
		end(&m);
	}
	refused(&m, _i == 3 ? "too long for its tag" : "a record is longer than its segment");
}
END_TEST

/* A segment of length 0 is empty: the bytes after it are a record, or an error. */
START_TEST(a_segment_of_unknown_length_is_refused)
{
	struct hprof_writer m = { BUF_INIT, 8, 0 };

	put_head(&m);
	put_names(&m);
	begin(&m, 0x0c);
	put_classes(&m);
	put_objects(&m);
	refused(&m, "unknown record tag");
}
END_TEST

START_TEST(data_after_the_end_is_refused)
{
	struct hprof_writer m = make(8);

	buf_adds(&m.out, "bytes secret");
	refused(&m, "follows its end");
}
END_TEST

START_TEST(other_files_are_refused)
{
	struct hprof_writer m = make(8);

	if (_i == 0)
		m.out.data[0] = 'X';
	if (_i == 1)
		m.out.data[17] = '3';
	if (_i == 2)
		m.out.data[22] = 5; /* bytes of an identifier */
	refused(&m, "cannot redact");
}
END_TEST

START_TEST(a_short_file_that_is_not_a_dump_is_refused)
{
	struct buf in = BUF_INIT, out = BUF_INIT;
	struct err err = { 0 };

	buf_adds(&in, "JAVA PROFIL?");
	ck_assert_int_eq(redact(&in, in.len, HPROF_REDACT_ALL, 5, MEMORY, &out, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	ck_assert_uint_eq(out.len, 0);
	buf_release(&in);
}
END_TEST

START_TEST(memory_is_limited)
{
	struct hprof_writer m = make(8);
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	ck_assert_int_eq(redact(&m.out, m.out.len, HPROF_REDACT_ALL, 64, 600, &out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "which is jtool's limit"));
	ck_assert_uint_eq(out.len, 0);
	buf_release(&m.out);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("model/hprof/hprof_redact");
	TCase *t = tcase_create("model/hprof/hprof_redact");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, strings_are_removed, 0, 2);
	tcase_add_loop_test(t, all_values_are_removed, 0, 2);
	tcase_add_loop_test(t, names_and_references_remain, 0, 2);
	tcase_add_loop_test(t, only_zeros_are_written, 0, 4);
	tcase_add_loop_test(t, pieces_of_any_size_give_the_same, 0, 4);
	tcase_add_loop_test(t, a_dump_that_is_cut_is_refused, 0, 4);
	tcase_add_loop_test(t, a_second_symbol_with_the_same_text_changes_nothing, 0, 2);
	tcase_add_test(t, format_1_0_1_is_redacted);
	tcase_add_test(t, a_dump_without_objects_is_redacted);
	tcase_add_test(t, an_instance_of_an_unknown_class_is_refused);
	tcase_add_test(t, an_instance_without_superclass_is_refused);
	tcase_add_test(t, circular_superclasses_are_refused);
	tcase_add_loop_test(t, instances_of_another_length_are_refused, 0, 2);
	tcase_add_test(t, a_class_that_is_defined_twice_is_refused);
	tcase_add_loop_test(t, unknown_tags_and_types_are_refused, 0, 4);
	tcase_add_loop_test(t, wrong_lengths_are_refused, 0, 4);
	tcase_add_test(t, a_segment_of_unknown_length_is_refused);
	tcase_add_test(t, data_after_the_end_is_refused);
	tcase_add_loop_test(t, other_files_are_refused, 0, 3);
	tcase_add_test(t, a_short_file_that_is_not_a_dump_is_refused);
	tcase_add_test(t, memory_is_limited);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
