/* Chunks pass from one thread to another, all of them and in order. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "fileio/byte_queue.h"

#define CHUNKS 20000u
#define MEMORY_MAX (2u << 20)

static struct byte_queue queue;

static void setup(void)
{
	byte_queue_init(&queue, MEMORY_MAX);
}

static void teardown(void)
{
	byte_queue_release(&queue);
}

static void *produce(void *arg)
{
	int *rc = arg;

	for (uint32_t i = 0; i < CHUNKS && *rc == 0; i++)
		*rc = byte_queue_push(&queue, &i, i % 3 ? sizeof(i) : 0);
	byte_queue_end(&queue);
	return NULL;
}

static void check_next(struct byte_chunk *chunk, uint32_t *n)
{
	ck_assert_uint_eq(chunk->len, *n % 3 ? sizeof(*n) : 0);
	ck_assert(memcmp(chunk->data, n, chunk->len) == 0);
	free(chunk);
	(*n)++;
}

START_TEST(chunks_arrive_complete_and_in_order)
{
	struct byte_chunk *chunk;
	uint32_t n = 0;
	pthread_t thread;
	int rc = 0;

	ck_assert_int_eq(pthread_create(&thread, NULL, produce, &rc), 0);
	while ((chunk = byte_queue_pop(&queue)) != NULL)
		check_next(chunk, &n);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	while ((chunk = byte_queue_pop_rest(&queue)) != NULL)
		check_next(chunk, &n);
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(n, CHUNKS);
	ck_assert_ptr_null(byte_queue_pop(&queue));
}
END_TEST

/* The number of chunks without data is limited, too. */
START_TEST(chunks_beyond_the_limit_are_refused)
{
	static const char data[4096];
	static const size_t lens[] = { 0, 2, sizeof(data) };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		struct byte_chunk *chunk;
		size_t n = 0;
		int rc;

		while ((rc = byte_queue_push(&queue, data, lens[i])) == 0 && n < MEMORY_MAX)
			n++;
		ck_assert_int_eq(rc, -ENOBUFS);
		ck_assert_uint_le(n * (sizeof(*chunk) + lens[i]), MEMORY_MAX);
		ck_assert_uint_ge(n * (64 + lens[i]), MEMORY_MAX - 64 - lens[i]);
		/* A chunk that is popped makes room for another. */
		free(byte_queue_pop(&queue));
		ck_assert_int_eq(byte_queue_push(&queue, data, lens[i]), 0);
		ck_assert_int_eq(byte_queue_push(&queue, data, lens[i]), -ENOBUFS);
		for (; n > 0; n--) {
			chunk = byte_queue_pop(&queue);
			ck_assert_uint_eq(chunk->len, lens[i]);
			free(chunk);
		}
	}
	byte_queue_end(&queue);
}
END_TEST

START_TEST(remaining_chunks_are_popped_after_the_end)
{
	struct byte_chunk *chunk;
	uint32_t n = 0;
	int rc = 0;

	(void)produce(&rc);
	ck_assert_ptr_null(byte_queue_pop(&queue));
	while ((chunk = byte_queue_pop_rest(&queue)) != NULL)
		check_next(chunk, &n);
	ck_assert_uint_eq(n, CHUNKS);
}
END_TEST

START_TEST(pop_without_chunks_returns_null_after_the_end)
{
	byte_queue_end(&queue);
	ck_assert_ptr_null(byte_queue_pop(&queue));
}
END_TEST

START_TEST(push_fails_after_cancel)
{
	struct byte_chunk *chunk;

	ck_assert_int_eq(byte_queue_push(&queue, "a", 1), 0);
	ck_assert_int_eq(byte_queue_push(&queue, "b", 1), 0);
	chunk = byte_queue_pop(&queue);
	ck_assert_ptr_nonnull(chunk);
	ck_assert_int_eq(chunk->data[0], 'a');
	free(chunk);
	byte_queue_cancel(&queue);
	ck_assert_int_eq(byte_queue_push(&queue, "c", 1), -EPIPE);
	byte_queue_end(&queue);
	ck_assert_ptr_null(byte_queue_pop(&queue));
	ck_assert_ptr_null(byte_queue_pop_rest(&queue));
}
END_TEST

/* LeakSanitizer reports chunks that byte_queue_release() does not free. */
START_TEST(unpopped_chunks_are_freed)
{
	ck_assert_int_eq(byte_queue_push(&queue, "a", 1), 0);
	ck_assert_int_eq(byte_queue_push(&queue, "b", 1), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fileio/byte_queue");
	TCase *tc = tcase_create("fileio/byte_queue");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, chunks_arrive_complete_and_in_order);
	tcase_add_test(tc, chunks_beyond_the_limit_are_refused);
	tcase_add_test(tc, remaining_chunks_are_popped_after_the_end);
	tcase_add_test(tc, pop_without_chunks_returns_null_after_the_end);
	tcase_add_test(tc, push_fails_after_cancel);
	tcase_add_test(tc, unpopped_chunks_are_freed);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
