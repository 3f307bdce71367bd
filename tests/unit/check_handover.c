/* Pieces from one thread to another: all of them, in order. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/handover.h"

#define PIECES 20000u

static struct handover handover;

static void setup(void)
{
	handover_init(&handover);
}

static void teardown(void)
{
	handover_release(&handover);
}

static void *bring(void *arg)
{
	int *rc = arg;

	for (uint32_t i = 0; i < PIECES && *rc == 0; i++)
		*rc = handover_put(&handover, &i, i % 3 ? sizeof(i) : 0);
	handover_end(&handover);
	return NULL;
}

static void check_next(struct handover_piece *piece, uint32_t *n)
{
	ck_assert_uint_eq(piece->len, *n % 3 ? sizeof(*n) : 0);
	ck_assert(memcmp(piece->data, n, piece->len) == 0);
	free(piece);
	(*n)++;
}

START_TEST(all_in_order)
{
	struct handover_piece *piece;
	uint32_t n = 0;
	pthread_t thread;
	int rc = 0;

	ck_assert_int_eq(pthread_create(&thread, NULL, bring, &rc), 0);
	while ((piece = handover_take(&handover)) != NULL)
		check_next(piece, &n);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	while ((piece = handover_rest(&handover)) != NULL)
		check_next(piece, &n);
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(n, PIECES);
	ck_assert_ptr_null(handover_take(&handover));
}
END_TEST

START_TEST(the_rest_is_for_another)
{
	struct handover_piece *piece;
	uint32_t n = 0;
	int rc = 0;

	(void)bring(&rc);
	ck_assert_ptr_null(handover_take(&handover));
	while ((piece = handover_rest(&handover)) != NULL)
		check_next(piece, &n);
	ck_assert_uint_eq(n, PIECES);
}
END_TEST

START_TEST(nobody_brings_anything)
{
	handover_end(&handover);
	ck_assert_ptr_null(handover_take(&handover));
}
END_TEST

START_TEST(no_more_is_wanted)
{
	struct handover_piece *piece;

	ck_assert_int_eq(handover_put(&handover, "a", 1), 0);
	ck_assert_int_eq(handover_put(&handover, "b", 1), 0);
	piece = handover_take(&handover);
	ck_assert_ptr_nonnull(piece);
	ck_assert_int_eq(piece->data[0], 'a');
	free(piece);
	handover_refuse(&handover);
	ck_assert_int_eq(handover_put(&handover, "c", 1), -EPIPE);
	handover_end(&handover);
	ck_assert_ptr_null(handover_take(&handover));
	ck_assert_ptr_null(handover_rest(&handover));
}
END_TEST

/* Nothing is lost of what nobody took. */
START_TEST(nobody_takes_it)
{
	ck_assert_int_eq(handover_put(&handover, "a", 1), 0);
	ck_assert_int_eq(handover_put(&handover, "b", 1), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("handover");
	TCase *tc = tcase_create("handover");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, all_in_order);
	tcase_add_test(tc, the_rest_is_for_another);
	tcase_add_test(tc, nobody_brings_anything);
	tcase_add_test(tc, no_more_is_wanted);
	tcase_add_test(tc, nobody_takes_it);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
