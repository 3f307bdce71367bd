/* The sums of a trace: no call is lost, and a drained call is in all sums of its method. */
#include "agent/weak/weak.h"
#include "jvm/trace/trace_state.h"

#define NS 5      /* the time of a short call */
#define LONG_NS 3000 /* the time of a call in another octave */

static struct ag_sums sums;
static struct ag_sum taken;
static uint64_t memory[1 << 16] __attribute__((aligned(64)));
static size_t used;

void *ag_jvm_alloc(struct ag_jvm *jvm, size_t n, size_t size)
{
	void *p = (char *)memory + used;

	(void)jvm;
	used += (n * size + 63) / 64 * 64;
	return used <= sizeof(memory) ? p : NULL;
}

void ag_free(struct ag_mem *mem, void *p)
{
	(void)mem, (void)p;
}

static void add(void)
{
	WEAK_CHECK(ag_sums_add(&sums, NULL, 0, NS, false));
}

static void add_long(void)
{
	(void)ag_sums_add(&sums, NULL, 0, LONG_NS, true);
}

static void take(void)
{
	if (!ag_sums_take(&sums, 0, &taken))
		return;
	WEAK_CHECK(taken.calls <= 2 && taken.ns >= taken.calls * NS);
	WEAK_CHECK(taken.min_ns == NS && taken.max_ns == NS);
}

static void nothing_is_lost(void)
{
	struct ag_sum rest;

	(void)ag_sums_take(&sums, 0, &rest);
	WEAK_CHECK(taken.calls + rest.calls == 2 && taken.ns + rest.ns == 2 * NS);
}

static void take_long(void)
{
	if (!ag_sums_take(&sums, 0, &taken))
		return;
	WEAK_CHECK(taken.calls == 1 && taken.ns == LONG_NS && taken.threw == 1);
	WEAK_CHECK(taken.min_ns == LONG_NS && taken.max_ns == LONG_NS);
	WEAK_CHECK(taken.buckets[log_histogram_bucket(LONG_NS)] == 1);
}

static void both_are_taken(void)
{
	taken = (struct ag_sum){ 0 };
	nothing_is_lost();
}

static void both_octaves_are_taken(void)
{
	struct ag_sum rest;

	WEAK_CHECK(ag_sums_take(&sums, 0, &rest));
	WEAK_CHECK(rest.calls == 2 && rest.ns == NS + LONG_NS && rest.threw == 1);
	WEAK_CHECK(rest.min_ns == NS && rest.max_ns == LONG_NS);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "a taken call brings its sums", { add_long, take_long }, NULL, NULL },
		{ "nothing is lost while calls are taken", { add, take }, add, nothing_is_lost },
		{ "threads share an octave", { add, add }, NULL, both_are_taken },
		{ "threads add octaves", { add, add_long }, NULL, both_octaves_are_taken },
		{ 0 },
	};

	/*
	 * No order of the model (weak.h) needs these parts, but aarch64 does: it may reorder two
	 * read-modify-writes.
	 */
	static const struct weak_excuse excuses[] = {
		{ "take_chunk exchange &chunk->buckets[i]: acquire",
		  "a read-modify-write never reads an old store" },
		{ "ag_sums_add add &sums->chunks[chunk].buckets[bucket & ((1u << 4) - 1)]: release",
		  "a read-modify-write never reads an old store" },
		{ 0 },
	};

	if (ag_sums_init(NULL, &sums, 1) != 0)
		return 99;
	return weak_run(tests, excuses);
}
