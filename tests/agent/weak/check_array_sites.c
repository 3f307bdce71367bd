/* Array sites: numbers are unique, and a site is complete before code with its number runs. */
#include "agent/weak/weak.h"
#include "jvm/alloc/alloc_exact_state.h"

static uint64_t memory[1 << 14] __attribute__((aligned(64)));
static struct ag_alloc_profile profile;
static struct ag_exact exact;
static uint32_t numbers[WEAK_THREADS + 1];
static uint32_t code; /* the number in instrumented code, which the JVM publishes */

uint32_t ag_alloc_classes_named(struct ag_alloc_classes *kinds, const char *signature, size_t len)
{
	(void)kinds, (void)signature, (void)len;
	return 0;
}

static void begin(void)
{
	profile.arena = (struct ag_arena){ .base = (uint8_t *)memory, .size = sizeof(memory) };
	exact.profile = &profile;
	ag_array_sites_begin(&exact);
}

static void add(void)
{
	uint32_t number = ag_array_site_new(&exact, AG_ARRAY_SITE_CLONE, NULL, 0, "p/A", 3);
	const struct ag_array_site *site = ag_array_site_of(&exact, (jint)number);

	numbers[weak_self()] = number;
	WEAK_CHECK(number != 0 && site && site->owner[2] == 'A');
	__atomic_store_n(&code, number, __ATOMIC_RELEASE);
}

static void run_code(void)
{
	uint32_t number = __atomic_load_n(&code, __ATOMIC_ACQUIRE);
	const struct ag_array_site *site = ag_array_site_of(&exact, (jint)number);

	if (number != 0)
		WEAK_CHECK(site && site->kind == AG_ARRAY_SITE_CLONE && site->owner[2] == 'A');
}

static void numbers_are_unique(void)
{
	WEAK_CHECK(numbers[1] != numbers[2]);
	for (unsigned i = 1; i <= 2; i++)
		WEAK_CHECK(ag_array_site_of(&exact, (jint)numbers[i])->owner[0] == 'p');
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "an entry is complete when its code runs", { add, run_code }, begin, NULL },
		{ "two threads add entries", { add, add }, begin, numbers_are_unique },
		{ 0 },
	};

	static const char zeroed[] = "the way of the number to its code publishes the entry, and "
		"all other bytes of a chunk are 0 since the arena exists";
	static const struct weak_excuse excuses[] = {
		{ "ag_array_site_of load &exact->array_sites[i / AG_ARRAY_SITE_CHUNK]: acquire",
		  zeroed },
		{ "chunk_of load at: acquire", zeroed },
		{ "chunk_of compare at: acquire", zeroed },
		{ "chunk_of compare at: release", zeroed },
		{ "chunk_of compare at: acquire if it fails", zeroed },
		{ 0 },
	};

	return weak_run(tests, excuses);
}
