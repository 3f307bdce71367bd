/* Sums of traced calls and their quantiles. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "unit/support/sample_trace.h"

static struct trace trace;

static void setup(void)
{
	trace = (struct trace){ 0 };
	(void)trace_add(&trace, "C", "a", "()V");
	(void)trace_add(&trace, "C", "b", "()V");
}

static void teardown(void)
{
	trace_release(&trace);
}

static int take(const struct payload *p)
{
	return take_frame(&trace, WIRE_TRACE_SUMS, p, p->w.len, NULL, NULL);
}

static void put_bucket(struct wire_writer *w, uint32_t bucket, uint64_t calls)
{
	wire_put_u32(w, bucket);
	wire_put_u64(w, calls);
}

START_TEST(sums_of_calls_accumulate)
{
	const struct trace_sum *sum = &trace.methods[1].sum;
	struct payload p;

	wire_put_u32(begin(&p), 2);
	put_sum(&p.w, 1, 3, 1, (const uint64_t[]){ 60, 10, 30 }, 2);
	put_bucket(&p.w, log_histogram_bucket(10), 1);
	put_bucket(&p.w, log_histogram_bucket(30), 2);
	put_sum(&p.w, 0, 1, 0, (const uint64_t[]){ 5, 5, 5 }, 0);
	ck_assert_int_eq(take(&p), 0);
	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, 1, 1, 1, (const uint64_t[]){ 7, 7, 7 }, 1);
	put_bucket(&p.w, log_histogram_bucket(30), 1);
	ck_assert_int_eq(take(&p), 0);
	ck_assert_uint_eq(sum->calls, 4);
	ck_assert_uint_eq(sum->threw, 2);
	ck_assert_uint_eq(sum->ns, 67);
	ck_assert_uint_eq(sum->min_ns, 7);
	ck_assert_uint_eq(sum->max_ns, 30);
	ck_assert_uint_eq(sum->buckets[log_histogram_bucket(30)], 3);
	ck_assert_uint_eq(trace_mean(sum), 16);
	ck_assert_uint_eq(trace.methods[0].sum.calls, 1);
	ck_assert_ptr_null(trace.methods[0].sum.buckets);
}
END_TEST

START_TEST(inconsistent_sums_are_rejected)
{
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, 2, 1, 0, (const uint64_t[]){ 1, 1, 1 }, 0);
	ck_assert_int_eq(take(&p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, 1, 1, 0, (const uint64_t[]){ 1, 1, 1 }, 1);
	put_bucket(&p.w, HISTOGRAM_BUCKETS, 1);
	ck_assert_int_eq(take(&p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, 1, 1, 0, (const uint64_t[]){ 1, 1, 1 }, 1);
	put_bucket(&p.w, HISTOGRAM_BUCKETS - 1, 1);
	ck_assert_int_eq(take(&p), 0);
	for (size_t len = 0; len < p.w.len; len++)
		ck_assert_int_eq(take_frame(&trace, WIRE_TRACE_SUMS, &p, len, NULL, NULL),
				 -EBADMSG);
}
END_TEST

START_TEST(sums_saturate)
{
	const struct trace_sum *sum = &trace.methods[0].sum;
	struct payload p;

	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, 0, UINT64_MAX - 1, UINT64_MAX, (const uint64_t[]){ 1ull << 63, 1, 9 }, 2);
	put_bucket(&p.w, 3, UINT64_MAX);
	put_bucket(&p.w, 9, UINT64_MAX);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(take(&p), 0);
	ck_assert_uint_eq(sum->calls, UINT64_MAX);
	ck_assert_uint_eq(sum->threw, UINT64_MAX);
	ck_assert_uint_eq(sum->ns, UINT64_MAX);
	ck_assert_uint_eq(sum->buckets[9], UINT64_MAX);
	ck_assert_uint_eq(trace_quantile(sum, 0.5), 3);
}
END_TEST

START_TEST(methods_without_calls_have_zero_times)
{
	struct payload p;

	ck_assert_uint_eq(trace_quantile(&trace.methods[0].sum, 0.5), 0);
	ck_assert_uint_eq(trace_mean(&trace.methods[0].sum), 0);
	/* A hostile agent sends times without calls. */
	wire_put_u32(begin(&p), 1);
	put_sum(&p.w, 0, 0, 0, (const uint64_t[]){ 1, 2, 3 }, 1);
	put_bucket(&p.w, 7, 0);
	ck_assert_int_eq(take(&p), 0);
	ck_assert_uint_eq(trace.methods[0].sum.max_ns, 0);
	ck_assert_uint_eq(trace_quantile(&trace.methods[0].sum, 0.5), 0);
}
END_TEST

/* Returns the next number of a sequence that is the same in each run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct trace_sum sum_of(const uint64_t *times, size_t n)
{
	struct trace_sum sum = { .calls = n, .min_ns = UINT64_MAX };

	sum.buckets = xcalloc(HISTOGRAM_BUCKETS, sizeof(*sum.buckets));
	for (size_t i = 0; i < n; i++) {
		sum.buckets[log_histogram_bucket(times[i])]++;
		if (times[i] < sum.min_ns)
			sum.min_ns = times[i];
		if (times[i] > sum.max_ns)
			sum.max_ns = times[i];
	}
	return sum;
}

/* Returns the `q` quantile: at least a share `q` (0 to 1) of the calls take no longer. */
static uint64_t exact(const uint64_t *sorted, size_t n, double q)
{
	size_t i = 0;

	while (i + 1 < n && (double)(i + 1) < q * (double)n)
		i++;
	return sorted[i];
}

/* Each run has a random number of samples, spread over 1 to 44 powers of two. */
START_TEST(quantiles_are_exact_within_a_bucket)
{
	static const double shares[] = { 0, 0.01, 0.5, 0.75, 0.95, 0.99, 0.999, 1 };
	uint64_t state = 0x9e3779b97f4a7c15 + (uint64_t)_i, times[500];
	size_t n = 1 + next_random(&state) % ARRAY_SIZE(times);
	unsigned spread = (unsigned)_i % 44;
	struct trace_sum sum;

	for (size_t i = 0; i < n; i++)
		times[i] = next_random(&state) >>
			   (64 - 44 + next_random(&state) % (spread + 1));
	qsort(times, n, sizeof(*times), compare);
	sum = sum_of(times, n);
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		uint64_t want = exact(times, n, shares[i]), got = trace_quantile(&sum, shares[i]);
		uint64_t off = got > want ? got - want : want - got;

		ck_assert_msg(off <= want / 32, "%zu samples, %g: %lu instead of %lu", n,
			      shares[i], got, want);
		ck_assert(got >= sum.min_ns && got <= sum.max_ns);
	}
	ck_assert_uint_eq(trace_quantile(&sum, 1), sum.max_ns);
	free(sum.buckets);
}
END_TEST

/* The maximum is exact, although the times exceed the last bucket. */
START_TEST(calls_longer_than_the_last_bucket_are_counted)
{
	const uint64_t times[] = { 1ull << 50, 1ull << 51 };
	struct trace_sum sum = sum_of(times, ARRAY_SIZE(times));

	ck_assert_uint_eq(trace_quantile(&sum, 0.5), times[0]);
	ck_assert_uint_eq(trace_quantile(&sum, 1), times[1]);
	free(sum.buckets);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/profile/trace_sums");
	TCase *c = tcase_create("model/profile/trace_sums");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, sums_of_calls_accumulate);
	tcase_add_test(c, inconsistent_sums_are_rejected);
	tcase_add_test(c, sums_saturate);
	tcase_add_test(c, methods_without_calls_have_zero_times);
	tcase_add_loop_test(c, quantiles_are_exact_within_a_bucket, 0, 200);
	tcase_add_test(c, calls_longer_than_the_last_bucket_are_counted);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
