/* The memory that the types and constants of a flight recording use, and its limit. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "model/jfr/jfr_pools.h"
#include "unit/support/jfr_writer.h"

#define N_TYPES 100
#define FIRST_TYPE 1000
#define KB 1000

/* Declares types of one byte; an event has no such type. */
static void many_types(struct jfr_writer *w)
{
	static char ids[N_TYPES][8];

	ELEMENT(w, "root", 2, "a", "b");
	ELEMENT(w, "metadata", 1 + N_TYPES, "a", "b");
	w_plain_class(w, "byte", "24");
	for (unsigned i = 0; i < N_TYPES; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "%u", FIRST_TYPE + i);
		ELEMENT(w, "class", 1, "name", "C", "id", ids[i]);
		ELEMENT(w, "field", 0, "name", "f", "class", "24");
	}
	w_end_types(w);
}

static void begin_checkpoint(struct jfr_writer *w, struct buf *b, int64_t delta, uint32_t n_pools)
{
	w_long(w, b, 1000);
	w_long(w, b, 0);
	w_long(w, b, delta);
	buf_addc(b, 0);
	w_int(w, b, n_pools);
}

/* Writes a checkpoint with one constant of each type. */
static void add_constants(struct jfr_writer *w)
{
	struct buf b = BUF_INIT;

	begin_checkpoint(w, &b, 0, N_TYPES);
	for (int64_t i = 0; i < N_TYPES; i++) {
		w_long(w, &b, FIRST_TYPE + i);
		w_int(w, &b, 1);
		w_long(w, &b, 1);
		buf_addc(&b, 7);
	}
	w_event(w, 1, &b);
	buf_release(&b);
}

static const struct {
	size_t max_memory;
	bool fits;
} limits[] = { { 100 * KB, false }, { 400 * KB, false }, { 2000 * KB, true } };

/* The types use 180 KB, and the hash table of each type's constants 4 KB. */
START_TEST(types_and_small_pools_count_as_memory)
{
	size_t limit = limits[_i].max_memory, metadata, constants;
	struct jfr_writer w = { .major = 2, .types = many_types };
	struct err err = { .code = EXIT_DONE };
	const struct jfr_pools *pools;
	struct jfr_reader *r;

	w_begin_chunk(&w);
	metadata = w_metadata(&w);
	constants = w.file.len;
	add_constants(&w);
	w_end_chunk(&w, metadata, constants);
	r = jfr_reader_new(w_read, &w.file, w.file.len, limit);
	ck_assert_int_eq(jfr_next_chunk(r, &err), limits[_i].fits ? 1 : -1);
	ck_assert_int_eq(err.code, limits[_i].fits ? EXIT_DONE : EXIT_PARTIAL);
	ck_assert(limits[_i].fits || strstr(err.text, "--max-memory"));
	/* The rest of a checkpoint is not read once the limit is exceeded. */
	pools = jfr_chunk_of(r)->pools;
	ck_assert_uint_lt(pools ? jfr_pools_bytes(pools) : 0, limit);
	jfr_reader_free(r);
	w_release(&w);
}
END_TEST

/* Writes a checkpoint of 100 KB whose first pool has an unknown type. */
static void add_damaged(struct jfr_writer *w)
{
	static const char zeros[100 * KB];
	struct buf b = BUF_INIT;

	begin_checkpoint(w, &b, 0, 1);
	w_long(w, &b, 999999);
	w_int(w, &b, 0);
	buf_add(&b, zeros, sizeof(zeros));
	w_event(w, 1, &b);
	buf_release(&b);
}

START_TEST(damaged_checkpoints_without_constants_are_freed)
{
	struct jfr_writer w = { .major = 2 };
	struct err err = { .code = EXIT_DONE };
	size_t metadata, damaged;
	struct jfr_reader *r;

	w_begin_chunk(&w);
	metadata = w_metadata(&w);
	damaged = w.file.len;
	for (unsigned i = 0; i < 20; i++)
		add_damaged(&w);
	w_end_chunk(&w, metadata, damaged);
	r = jfr_reader_new(w_read, &w.file, w.file.len, 1000 * KB);
	ck_assert_msg(jfr_next_chunk(r, &err) == 1, "%s", err.text);
	ck_assert_uint_lt(jfr_pools_bytes(jfr_chunk_of(r)->pools), 100 * KB);
	ck_assert_ptr_nonnull(strstr(jfr_problems(r), "constants are damaged"));
	jfr_reader_free(r);
	w_release(&w);
}
END_TEST

/* The last constant is damaged: the constants before it are in use, so the memory is, too. */
START_TEST(damaged_checkpoints_with_constants_count_as_memory)
{
	static const char zeros[100 * KB];
	struct jfr_writer w = { .major = 2 };
	struct err err = { .code = EXIT_DONE };
	size_t metadata, damaged;
	struct jfr_reader *r;

	w_begin_chunk(&w);
	metadata = w_metadata(&w);
	damaged = w.file.len;
	for (int64_t i = 0; i < 20; i++) {
		struct buf b = BUF_INIT;

		begin_checkpoint(&w, &b, 0, 2);
		w_long(&w, &b, T_SYMBOL);
		w_int(&w, &b, 1);
		w_long(&w, &b, i);
		w_text(&w, &b, "a");
		w_long(&w, &b, 999999);
		w_int(&w, &b, 0);
		buf_add(&b, zeros, sizeof(zeros));
		w_event(&w, 1, &b);
		buf_release(&b);
	}
	w_end_chunk(&w, metadata, damaged);
	r = jfr_reader_new(w_read, &w.file, w.file.len, 1000 * KB);
	ck_assert_int_eq(jfr_next_chunk(r, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "--max-memory"));
	jfr_reader_free(r);
	w_release(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/jfr/jfr_memory");
	TCase *t = tcase_create("model/jfr/jfr_memory");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_loop_test(t, types_and_small_pools_count_as_memory, 0, ARRAY_SIZE(limits));
	tcase_add_test(t, damaged_checkpoints_without_constants_are_freed);
	tcase_add_test(t, damaged_checkpoints_with_constants_count_as_memory);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
